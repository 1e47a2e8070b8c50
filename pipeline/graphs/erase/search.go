package erase

import (
	"context"
	"io/fs"
	"slices"
	"strings"

	"lethe"
	"lethe/deletions/coordinator"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/snapshot"
)

// search searches for erased data.
type search struct {
	store *snapshot.Store
	// files are the files of the store.
	files fs.FS
}

// Search implements coordinator.Graphs: it searches staging and the files of timesteps.
func (e search) Search(
	ctx context.Context, scanner *scan.Scanner, replaced []coordinator.Replaced,
) (scan.Report, error) {
	places := []string{snapshot.StagingFolder}
	for _, r := range replaced {
		places = append(places, snapshot.TimestepFiles(r.Timestep))
	}
	report, err := scanner.ScanDir(ctx, scan.Some(e.files, func(path string) bool {
		return slices.ContainsFunc(places, func(place string) bool { return strings.HasPrefix(path, place) })
	}))
	if err != nil {
		return report, err
	}
	hits, err := SearchOriginals(e.store, scanner)
	report.Hits = append(report.Hits, hits...)
	if err != nil {
		return report, err
	}
	hits, err = e.rows(scanner, replaced)
	report.Hits = append(report.Hits, hits...)
	return report, err
}

// SearchOriginals searches the content of records in staging, which have their producers' spelling.
func SearchOriginals(store *snapshot.Store, scanner *scan.Scanner) (hits []scan.FileHit, err error) {
	err = store.Letters().Originals(func(o snapshot.Origin) error {
		for _, h := range scanner.MatchRecord(o.Key, ingest.Spelled([][]byte{o.Value})...) {
			hits = append(hits, scan.FileHit{Path: snapshot.StagingFolder, Hit: h})
		}
		return nil
	})
	return hits, err
}

// rows searches the graphs of rewritten timesteps for erased features that are not 0.
func (e search) rows(scanner *scan.Scanner, replaced []coordinator.Replaced) (hits []scan.FileHit, err error) {
	if !scanner.SeeksFeatures() {
		return nil, nil
	}
	for _, r := range replaced {
		if e.store.Info(r.Timestep).State == lethe.Open {
			continue // it was emptied since
		}
		content, err := e.store.Load(r.Timestep)
		if err != nil {
			return nil, err
		}
		for i, n := range content.Snapshot.Nodes {
			for _, h := range scanner.MatchRow(n.ID, content.Snapshot.Row(i)) {
				hits = append(hits, scan.FileHit{Path: snapshot.TimestepFiles(r.Timestep), Hit: h})
			}
		}
	}
	return hits, nil
}
