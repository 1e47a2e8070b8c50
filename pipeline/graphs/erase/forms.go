package erase

import (
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/coordinator"
	"lethe/deletions/scan"
	"lethe/internal/sortedset"
	"lethe/snapshot"
	"lethe/snapshot/index"
)

// forms are the fingerprints of a plan.
type forms struct{ secret lethe.Secret }

// staged adds the row of a target in staging, and the keys of a payment or subject.
func (e forms) staged(plan *coordinator.Plan, l snapshot.Located) error {
	kind := scan.KindPaymentPseudonyms
	if l.Kind == lethe.SubjectTarget {
		kind = scan.KindSubjectIndex
	}
	keys, err := scan.KeyFingerprints(e.secret, kind, l.Keys)
	if err != nil {
		return err
	}
	plan.Fingerprints = append(plan.Fingerprints, keys...)
	switch {
	case l.Row == nil:
		return nil
	case l.Shared:
		plan.NotSearched = withFeatures(plan.NotSearched)
		return nil
	}
	prints, err := scan.RowFingerprints(e.secret, l.Row)
	if err != nil {
		return err
	}
	e.features(plan, l.Row, prints)
	return nil
}

// closed adds the forms of a request's targets in a closed timestep.
func (e forms) closed(
	plan *coordinator.Plan, s *lethe.Snapshot, own []snapshot.Located, of func(node int) scan.Forms,
) error {
	shared, err := e.sharedRows(s, own)
	if err != nil {
		return err
	}
	if len(shared) > 0 {
		plan.NotSearched = withFeatures(plan.NotSearched)
	}
	for _, node := range positionsOf(s, own) {
		forms := of(node)
		plan.NotSearched = sortedset.Add(plan.NotSearched, forms.NotSearched...)
		var features []scan.Fingerprint
		for _, f := range forms.Found {
			switch {
			case slices.Contains(shared, f):
			case f.Kind == scan.KindFeatures || f.Kind == scan.KindFeaturesText:
				features = append(features, f)
			default:
				plan.Fingerprints = append(plan.Fingerprints, f)
			}
		}
		e.features(plan, s.Row(node), features)
	}
	return nil
}

// redacted adds the forms of rows with erased features: no transaction has the complete row now.
func (e forms) redacted(plan *coordinator.Plan, s *lethe.Snapshot, own []snapshot.Located) error {
	for _, l := range own {
		node, found := s.Find(l.Pseudonym)
		if !found || l.Kind != lethe.FeaturesTarget {
			continue
		}
		if _, changed := l.Columns.Zeroed(s.Row(node)); !changed {
			continue
		}
		forms, err := scan.NodeFingerprints(e.secret, s, []int{node})
		if err != nil {
			return err
		}
		prints := forms[0].Found[:0:0]
		for _, f := range forms[0].Found {
			if !l.Shared && (f.Kind == scan.KindFeatures || f.Kind == scan.KindFeaturesText) {
				prints = append(prints, f)
			}
		}
		if len(prints) == 0 {
			plan.NotSearched = withFeatures(plan.NotSearched)
		}
		e.features(plan, s.Row(node), prints)
	}
	return nil
}

// sharedRows returns the forms of rows that a remaining transaction of any timestep has too: finding them proves
// nothing. The receipt names their kinds.
func (e forms) sharedRows(s *lethe.Snapshot, gone []snapshot.Located) (out []scan.Fingerprint, err error) {
	for _, l := range gone {
		node, found := s.Find(l.Pseudonym)
		if !found || !l.Shared {
			continue
		}
		prints, err := scan.RowFingerprints(e.secret, s.Row(node))
		if err != nil {
			return nil, err
		}
		out = append(out, prints...)
	}
	return out, nil
}

func withFeatures(kinds []scan.Kind) []scan.Kind {
	return sortedset.Add(kinds, scan.KindFeatures, scan.KindFeaturesText)
}

// features adds the forms of a row.
func (e forms) features(plan *coordinator.Plan, row []float32, prints []scan.Fingerprint) {
	if len(prints) == 0 {
		return
	}
	forms := deletions.RowForms{Content: scan.MAC(index.ContentOf(e.secret, row))}
	for _, f := range prints {
		forms.Forms = append(forms.Forms, f.MAC)
	}
	plan.Fingerprints = append(plan.Fingerprints, prints...)
	plan.Rows = append(plan.Rows, forms)
}
