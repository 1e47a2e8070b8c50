package worlds

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// commanded reports an error if a command of a request that is done is still on control.v1: whoever begins again
// would search all its files for what it erased, for ever.
func (d *deployment) commanded(ctx context.Context) error {
	there := make(map[string]bool)
	if err := d.topics.ReadAll(ctx, bus.Control, func(rec ingest.Record) error {
		if id, is := strings.CutPrefix(string(rec.Key), "order/"); is {
			there[id] = !rec.Tombstone()
		}
		return nil
	}); err != nil {
		return err
	}
	statuses, err := d.statuses(ctx)
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(there)) {
		if s := statuses[id]; there[id] && s.State != deletions.Held && isDone(s) {
			return fmt.Errorf("the command of request %s is still there, which is %s", id, s.State)
		}
	}
	return nil
}
