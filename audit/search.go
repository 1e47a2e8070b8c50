package audit

import (
	"context"
	"net/url"
	"os"
	"slices"
	"strings"

	"lethe/configs"
	"lethe/deletions/receipt"
	"lethe/deletions/scan"
	"lethe/deletions/search"
	"lethe/ingest/bus"
)

// search searches every file of the directory for every erased record.
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
		// The log of the broker may hold later records that carry a subject; the content of each
		// record is checked separately.
		if hit.Kind == scan.KindSubjectKey && strings.HasPrefix(hit.Path, search.BrokerFolder+"/") {
			continue
		}
		if path, is := strings.CutPrefix(hit.Path, search.BrokerFolder+"/"); is && search.OfClients(path) {
			continue // receipts account for it
		}
		if inv.namedByOpen && inErasures(inv.config, hit.Path) {
			continue // so do receipts for this
		}
		r.problem("%s holds the %s of an erased record at byte %d", hit.Path, hit.Kind, hit.Offset)
	}
	return nil
}

// inErasures reports whether a file belongs to the embedded broker's log of erasures.v1.
func inErasures(c configs.Config, path string) bool {
	topic := url.PathEscape(c.Kafka.TopicPrefix+string(bus.Erasures)) + "-"
	return strings.HasPrefix(path, search.BrokerFolder+"/") &&
		slices.ContainsFunc(strings.Split(path, "/"), func(part string) bool { return strings.HasPrefix(part, topic) })
}
