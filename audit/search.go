package audit

import (
	"context"
	"os"

	"lethe/deletions/receipt"
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
		r.problem("%s holds the %s of an erased record at byte %d", hit.Path, hit.Kind, hit.Offset)
	}
	return nil
}
