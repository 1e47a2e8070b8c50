package train

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
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
func (l *logic) takeNotices(notices []wire.Notice) {
	for _, n := range notices {
		switch {
		case n.Order != nil && n.Order.Phase == wire.PhasePurge:
			known := l.erasures[n.Order.RequestID]
			if known == nil {
				known = &erasure{purged: -1}
				l.erasures[n.Order.RequestID] = known
			}
			known.order = n.Order
		case n.Deleted != "":
			delete(l.erasures, n.Deleted)
		}
	}
}

// acknowledge answers the next order whose slices have all been replaced and
// trained through, or is idle. The stores were rewritten when the slices arrived,
// so all that is left is to search them.
func (l *logic) acknowledge(ctx context.Context) (role.Output, error) {
	for _, id := range slices.Sorted(maps.Keys(l.erasures)) {
		e := l.erasures[id]
		if e.purged >= e.order.Attempt || !l.replaced(e.order) {
			continue
		}
		records, err := l.answer(ctx, e.order)
		if err != nil {
			return role.Output{}, fmt.Errorf("request %s: %w", id, err)
		}
		return role.Output{Topic: bus.ErasureStatus, Records: records, Note: func() error {
			e.purged = e.order.Attempt
			return nil
		}}, nil
	}
	return role.Output{Idle: true}, nil
}

// replaced reports whether every slice that the order replaces is in place and
// its column trained as far as it goes.
func (l *logic) replaced(o *wire.Order) bool {
	for _, step := range o.Steps {
		for _, shard := range step.Shards {
			if int(shard) >= len(l.columns) {
				return false
			}
			c := l.columns[shard]
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
func (l *logic) answer(ctx context.Context, o *wire.Order) ([]ingest.Outgoing, error) {
	summary, err := l.search(ctx, o)
	if err != nil {
		return nil, err
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
			return nil, err
		}
		records = append(records, ingest.Outgoing{Key: []byte(a.Key()), Value: value})
	}
	return records, nil
}
