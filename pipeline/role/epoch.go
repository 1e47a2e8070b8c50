package role

import (
	"context"
	"fmt"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/journal"
	"lethe/pipeline/wire"
)

// Begin begins an epoch of the role for a process that leads from now on, unless it has begun one for this opening. It
// says where topics end that leaders alone write: what was written there under an earlier epoch from that offset on is
// stale, for whoever begins to read behind it too. Of a process that stands by, or shares
// with nobody, it is nothing.
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
	said := make(map[string]int64)
	for tp, end := range ends {
		said[tp.String()] = end
	}
	log := journal.Open(b, partition, s.Lead.role, s.Lead.instance, from)
	if err := log.Begin(ctx, b.Write, said); err != nil {
		return fmt.Errorf("begin an epoch: %w", err)
	}
	if partition != journal.ForAll { // others have to know
		began := journal.Entry{
			Role: s.Lead.role, Epoch: log.Epoch(), Instance: s.Lead.instance, Decision: journal.EpochBegan{Ends: said},
		}
		record, err := began.Record()
		if err == nil {
			err = b.Write(ctx, bus.Journal, []ingest.Outgoing{record})
		}
		if err != nil {
			return fmt.Errorf("say that an epoch began: %w", err)
		}
	}
	s.journal, s.ends = log, ends
	s.Lead.mu.Lock()
	defer s.Lead.mu.Unlock()
	s.Lead.epoch = log.Epoch()
	return nil
}

// ReadJournal reads all that was decided for a role and returns its journal: that in which a leader began its epoch,
// or one of its own for a process that shares the role with no other.
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

// Journal is the one in which the process, which leads, has begun its epoch.
func (s *Standing) Journal() *journal.Log { return s.journal }

// owner is who this process is to those who read what it writes. The lock is held.
func (l *Lead) owner() wire.Owner { return wire.Owner{Generation: l.epoch, Instance: l.instance} }

// ReadLeaders reads the epochs that have begun.
func ReadLeaders(ctx context.Context, b journal.Topics) (*wire.Leaders, error) {
	leaders := new(wire.Leaders)
	return leaders, readLeaders(ctx, b, leaders)
}

func readLeaders(ctx context.Context, b journal.Topics, into *wire.Leaders) error {
	var reader journal.Reader
	of := bus.TopicPartition{Topic: bus.Journal, Partition: journal.ForAll}
	_, err := b.ReadOn(ctx, of, 0, func(rec ingest.Record) error {
		if e, counts, err := reader.Read(rec); err == nil && counts { // who follows the journal tells of the others
			noteLeader(into, e)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("the journal: %w", err)
	}
	return nil
}

// noteLeader notes the epoch that an entry begins.
func noteLeader(leaders *wire.Leaders, e journal.Entry) {
	if began, is := e.Decision.(journal.EpochBegan); is {
		leaders.Began(e.Role, e.Epoch, began.Ends)
	}
}

// hear takes a batch of the journal. A leader that somebody has fenced leads no more.
func (f *Follower) hear(batch bus.Batch) (entries []journal.Entry, err error) {
	for _, rec := range batch.Records {
		e, counts, err := f.journal.Read(rec)
		if err != nil {
			f.junk(rec)
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
