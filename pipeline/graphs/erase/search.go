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

// search looks for what was erased.
type search struct {
	store *snapshot.Store
	// files are those of the store.
	files fs.FS
}

// Search implements coordinator.Graphs: it reads staging and the stores of the
// timesteps.
func (e search) Search(
	ctx context.Context, scanner *scan.Scanner, replaced []coordinator.Replaced,
) (scan.Report, error) {
	folders := []string{snapshot.StagingFolder}
	for _, r := range replaced {
		folders = append(folders, snapshot.TimestepFolder(r.Timestep))
	}
	report, err := scanner.ScanDir(ctx, scan.Some(e.files, func(path string) bool {
		top, _, _ := strings.Cut(path, "/")
		return slices.Contains(folders, top)
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

// SearchOriginals looks at what the records in staging say: they are kept as their
// producers spelled them.
func SearchOriginals(store *snapshot.Store, scanner *scan.Scanner) (hits []scan.FileHit, err error) {
	err = store.Originals(func(o snapshot.Origin) error {
		for _, h := range scanner.MatchRecord(o.Key, ingest.Spelled(o.Parts())...) {
			hits = append(hits, scan.FileHit{Path: snapshot.StagingFolder, Hit: h})
		}
		return nil
	})
	return hits, err
}

// rows looks for features that are not 0 in the graphs of timesteps that were rewritten.
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
				hits = append(hits, scan.FileHit{Path: snapshot.TimestepFolder(r.Timestep), Hit: h})
			}
		}
	}
	return hits, nil
}
