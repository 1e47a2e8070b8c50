package train

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// erasure is a request under way, as far as this role is concerned.
type erasure struct {
	order *wire.Order
	// purged is the newest attempt that was acknowledged, or -1.
	purged int
}

// One process plays the role; acknowledgements name it.
const (
	roleName = "train"
	instance = "1"
)

// takeNotices follows the erasure orders.
func (r *Role) takeNotices(batch bus.Batch) error {
	for _, rec := range batch.Records {
		n, err := wire.ParseNotice(rec)
		if err != nil {
			return err
		}
		switch {
		case n.Order != nil && n.Order.Phase == wire.PhasePurge:
			known := r.erasures[n.Order.RequestID]
			if known == nil {
				known = &erasure{purged: -1}
				r.erasures[n.Order.RequestID] = known
			}
			known.order = n.Order
		case n.Deleted != "":
			delete(r.erasures, n.Deleted)
		}
	}
	return nil
}

// acknowledge answers the orders whose slices have all been replaced and
// trained through. The stores were rewritten when the slices arrived, so all
// that is left is to search them.
func (r *Role) acknowledge(ctx context.Context) error {
	for _, id := range slices.Sorted(maps.Keys(r.erasures)) {
		e := r.erasures[id]
		if e.purged >= e.order.Attempt || !r.replaced(e.order) {
			continue
		}
		if err := r.answer(ctx, e.order); err != nil {
			return fmt.Errorf("request %s: %w", id, err)
		}
		e.purged = e.order.Attempt
	}
	return nil
}

// replaced reports whether every slice that the order replaces is in place and
// its column trained as far as it goes.
func (r *Role) replaced(o *wire.Order) bool {
	for _, step := range o.Steps {
		for _, shard := range step.Shards {
			if int(shard) >= len(r.columns) {
				return false
			}
			c := r.columns[shard]
			if c.links[step.Timestep].revision < step.Revision {
				return false
			}
			if _, pending := c.next(); pending || c.trained < step.Timestep {
				return false
			}
		}
	}
	return true
}

// answer acknowledges the order and says what a search of the role's folder
// found.
func (r *Role) answer(ctx context.Context, o *wire.Order) error {
	summary, err := o.Search(ctx, r.o.Secret, r.o.Dir)
	if err != nil {
		return err
	}
	purged := deletions.NewAck(o.RequestID, roleName, instance, deletions.StepPurged)
	purged.Shards = slices.Sorted(maps.Keys(o.Shards()))
	scanned := deletions.NewAck(o.RequestID, roleName, instance, deletions.StepScanned)
	scanned.Scan = &summary
	var records []ingest.Outgoing
	for _, a := range []deletions.Ack{purged, scanned} {
		a.Attempt = o.Attempt
		value, err := a.Encode()
		if err != nil {
			return err
		}
		records = append(records, ingest.Outgoing{Key: []byte(a.Key()), Value: value})
	}
	return r.o.Client.Write(ctx, bus.ErasureStatus, records)
}
