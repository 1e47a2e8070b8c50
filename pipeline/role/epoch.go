package role

import (
	"context"
	"fmt"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/journal"
	"lethe/pipeline/wire"
)

// Begin begins an epoch of the role in a new leader, unless this opening has one. The entry has the end offsets of
// topics that only leaders write: records of earlier epochs behind them are stale. In a standby, and in a process that
// has the role alone, it does nothing.
func (s *Standing) Begin(
	ctx context.Context, b Bus, partition int, from journal.Position, of ...bus.Topic,
) error {
	if s == nil || s.StandsBy() || s.journal != nil {
		return nil
	}
	ends, err := bus.EndsOf(ctx, b, append(of, bus.Control)...)
	if err != nil {
		return err
	}
	offsets := make(map[string]int64)
	for tp, end := range ends {
		offsets[tp.String()] = end
	}
	log := journal.Open(b, partition, s.Lead.role, s.Lead.instance, from)
	if err := log.Begin(ctx, b.Write, offsets); err != nil {
		return fmt.Errorf("begin an epoch: %w", err)
	}
	if partition != journal.ForAll { // all roles read that one
		began := journal.Entry{
			Role: s.Lead.role, Epoch: log.Epoch(), Instance: s.Lead.instance, Decision: journal.EpochBegan{Ends: offsets},
		}
		record, err := began.Record()
		if err == nil {
			err = b.Write(ctx, bus.Journal, []ingest.Outgoing{record})
		}
		if err != nil {
			return fmt.Errorf("publish the epoch: %w", err)
		}
	}
	s.journal, s.ends = log, ends
	s.Lead.mu.Lock()
	defer s.Lead.mu.Unlock()
	s.Lead.epoch = log.Epoch()
	return nil
}

// ReadJournal calls apply with all entries of a role and returns its journal: the one of a leader's epoch, or a new
// one for a process that has the role alone.
func (s *Standing) ReadJournal(
	ctx context.Context, b journal.Topics, partition int, role, instance string, apply func(journal.Entry),
) (*journal.Log, error) {
	log := journal.Open(b, partition, role, instance, journal.Position{})
	if s != nil {
		log = s.journal
	}
	log.Replay(apply)
	return log, log.Read(ctx)
}

// Journal is the journal of the leader's epoch.
func (s *Standing) Journal() *journal.Log { return s.journal }

// owner identifies this process in its records. The lock is held.
func (l *Lead) owner() wire.Owner { return wire.Owner{Generation: l.epoch, Instance: l.instance} }

// ReadLeaders reads all epochs.
func ReadLeaders(ctx context.Context, b journal.Topics) (*wire.Leaders, error) {
	leaders := new(wire.Leaders)
	return leaders, readLeaders(ctx, b, leaders)
}

func readLeaders(ctx context.Context, b journal.Topics, into *wire.Leaders) error {
	var reader journal.Reader
	of := bus.TopicPartition{Topic: bus.Journal, Partition: journal.ForAll}
	_, err := b.ReadOn(ctx, of, 0, func(rec ingest.Record) error {
		e, counts, err := reader.Read(rec)
		if counts {
			noteLeader(into, e)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("the journal: %w", err)
	}
	return nil
}

// noteLeader adds the epoch of an entry.
func noteLeader(leaders *wire.Leaders, e journal.Entry) {
	if began, is := e.Decision.(journal.EpochBegan); is {
		leaders.Began(e.Role, e.Epoch, began.Ends)
	}
}

// entriesOf reads a batch of the journal. It returns ErrLedElsewhere to a fenced leader.
func (f *Follower) entriesOf(batch bus.Batch) (entries []journal.Entry, err error) {
	for _, rec := range batch.Records {
		if rec.Unauthenticated != "" {
			f.junk(rec)
		}
		e, counts, err := f.journal.Read(rec)
		if err != nil {
			return nil, fmt.Errorf("%s@%d: %w", batch.Source, rec.Offset, err)
		}
		if counts {
			noteLeader(f.leaders, e)
			entries = append(entries, e)
		}
	}
	s := f.around.Standing
	if s == nil || s.StandsBy() || f.journal.Epoch(s.Lead.role, journal.ForAll) <= s.journal.Epoch() {
		return entries, nil
	}
	return nil, ErrLedElsewhere
}
