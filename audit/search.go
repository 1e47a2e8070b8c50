package audit

import (
	"context"
	"os"
	"strings"

	"lethe/deletions/coordinator"
	"lethe/deletions/receipt"
	"lethe/deletions/scan"
)

// search looks for every erased record in every file of the directory.
func (inv *inventory) search(ctx context.Context, r *Report) error {
	r.Erasures = len(inv.done)
	scanner, err := inv.scanner()
	if err != nil || scanner == nil {
		return err
	}
	report, err := scanner.ScanDir(ctx, receipt.Readable(os.DirFS(inv.config.DataDir)))
	if err != nil {
		return err
	}
	r.Files, r.Bytes = report.Files, report.Bytes
	for _, hit := range report.Hits {
		// The log of the broker may hold later records that carry a subject; what its records
		// say is looked at one by one.
		if hit.Kind == scan.KindSubjectKey && strings.HasPrefix(hit.Path, coordinator.BrokerFolder+"/") {
			continue
		}
		r.problem("%s holds the %s of an erased record at byte %d", hit.Path, hit.Kind, hit.Offset)
	}
	return nil
}
