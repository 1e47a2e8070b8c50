package worlds

import (
	"context"
	"math/rand/v2"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// ahead draws records of targets that come once these are suppressed, in every partition and ahead of
// their time. Who looked at them would close timesteps that others are still to come to.
func (d *drawing) ahead(chance *rand.Rand) {
	if slices.ContainsFunc(d.events, func(e event) bool {
		return e.operation != nil && (e.operation.hold != nil || e.operation.cancel != nil)
	}) {
		return // it may not be suppressed, or no more
	}
	for at := len(d.events) - 1; at >= 0; at-- {
		request := d.events[at].request
		if request == nil || chance.IntN(2) == 0 {
			continue
		}
		for _, target := range request.Targets {
			if target.Kind != lethe.TransactionTarget {
				continue
			}
			behind, row := at+1+chance.IntN(len(d.events)-at), []float32{1, 0, 0}
			for p := range partitions[bus.Transactions] {
				key, value, err := ingest.EncodeTransaction(lethe.Transaction{
					ID: target.Transaction, Timestep: d.last, Features: row,
				})
				if err != nil {
					d.Fatal(err)
				}
				record := ingest.Outgoing{Key: key, Value: value, Pinned: true, Partition: p}
				d.events = slices.Insert(d.events, behind, event{
					topic: bus.Transactions, record: record, names: []lethe.TransactionID{target.Transaction}, row: row,
					behind: request.RequestID, polls: chance.IntN(8),
				})
			}
		}
	}
}

// waits reports whether an event is not to be sent, because what it comes behind has not happened.
func (s *simulation) waits(ctx context.Context, e event) (bool, error) {
	if e.behind == "" {
		return false, nil
	}
	statuses, err := s.current.statuses(ctx)
	switch statuses[e.behind].State {
	case deletions.Suppressed, deletions.Rewriting, deletions.Retraining, deletions.Swapped, deletions.Erased,
		deletions.Verified:
		return false, err
	default:
		return true, err
	}
}
