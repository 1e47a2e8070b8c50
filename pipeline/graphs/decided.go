package graphs

import (
	"context"

	"lethe/ingest/bus"
	"lethe/pipeline/journal"
)

// decided is what the journal has decided of the stream, for the process that decides it. The number of features
// stands there so that a lost store of graphs is made again with the same one: the transactions that told it may be
// erased by then. It is decided before it is fixed, and once more when the dead letters of transactions with another
// number are published. A standby publishes none, so it waits for that: who takes over before has all to publish. And
// it waits until it has taken what the leader had, for timesteps close once the number is fixed, and refuse what comes
// then.
type decided struct {
	journal  *journal.Log
	features journal.FeaturesDecided
}

// readDecided reads what was decided.
func readDecided(ctx context.Context, o Options) (*decided, error) {
	d := new(decided)
	var err error
	d.journal, err = o.standing.ReadJournal(ctx, o.Bus, roleName, o.Instance, d.apply)
	return d, err
}

func (d *decided) apply(e journal.Entry) {
	if features, is := e.Decision.(journal.FeaturesDecided); is {
		d.features = features
	}
}

// refused appends that the dead letters of transactions with another number are published, unless it was.
func (d *decided) refused(ctx context.Context, write journal.Write, count int) error {
	if d.features.Count == count && d.features.Refused {
		return nil
	}
	return d.journal.Append(ctx, write, journal.FeaturesDecided{Count: count, Taken: d.features.Taken, Refused: true})
}

// takenOf is up to where a store has taken partitions of transactions.
func takenOf(store Store) map[int]int64 {
	taken := make(map[int]int64)
	for at, next := range store.Offsets() {
		if at.Topic == string(bus.Transactions) {
			taken[at.Partition] = next
		}
	}
	return taken
}

// apply notes what the journal has decided.
func (s *standby) apply(entries []journal.Entry) {
	for _, e := range entries {
		if e.Role != roleName {
			continue
		}
		switch d := e.Decision.(type) {
		case journal.EpochBegan:
			s.heard.Leader = e.Instance
		case journal.FeaturesDecided:
			s.features = d
		}
	}
}

// takeFeatures fixes the number of features, once its dead letters are published and all was taken here that the leader
// had taken as it was decided.
func (s *standby) takeFeatures() error {
	if !s.features.Refused || s.store.FeatureCount() > 0 {
		return nil
	}
	taken := takenOf(s.store)
	for partition, next := range s.features.Taken {
		if taken[partition] < next {
			return nil
		}
	}
	return s.store.Marks().FixFeatureCount(s.features.Count)
}
