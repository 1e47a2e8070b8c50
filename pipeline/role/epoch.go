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

// epochs are those that have begun, as a reader of the journal knows them.
type epochs struct {
	reader journal.Reader
	// led is who leads the graphs.
	led wire.Led
}

// read returns the entries of the journal that count in a batch, and gives junk what is none.
func (e *epochs) read(batch bus.Batch, junk func(ingest.Record)) (out []journal.Entry) {
	for _, rec := range batch.Records {
		entry, counts, err := e.reader.Read(rec)
		if err != nil {
			junk(rec)
		}
		if !counts {
			continue
		}
		if began, is := entry.Decision.(journal.EpochBegan); is && entry.Role == wire.LeadsGraphs {
			e.led = wire.Led{By: wire.Owner{Generation: entry.Epoch, Instance: entry.Instance}, From: began.Ends}
		}
		out = append(out, entry)
	}
	return out
}

// hearEpochs reads the journal before anything that a leader wrote is read: what is stale of those before is not told
// where reading goes on.
func (f *Follower) hearEpochs(ctx context.Context) error {
	of := bus.TopicPartition{Topic: bus.Journal, Partition: journal.ForAll}
	_, err := f.around.Bus.ReadOn(ctx, of, 0, func(rec ingest.Record) error {
		f.epochs.read(bus.Batch{Records: []ingest.Record{rec}}, func(ingest.Record) {}) // told of as it is followed
		return nil
	})
	if err != nil {
		return fmt.Errorf("the journal: %w", err)
	}
	f.hearLed()
	f.epochs = epochs{} // it is followed from its start
	return nil
}

// hearLed tells the readers who leads the graphs.
func (f *Follower) hearLed() {
	if f.epochs.led.By.Before(f.led.By) {
		return
	}
	f.led = f.epochs.led
	f.notices.Behind(f.led)
	for _, reader := range f.readers {
		reader.Behind(f.led)
	}
}

// hear takes a batch of the journal. A leader that somebody has fenced leads no more.
func (f *Follower) hear(batch bus.Batch) ([]journal.Entry, error) {
	entries := f.epochs.read(batch, f.junk)
	f.hearLed()
	s := f.around.Standing
	if s == nil || s.StandsBy() || f.epochs.reader.Epoch(s.Lead.role, journal.ForAll) <= s.journal.Epoch() {
		return entries, nil
	}
	return nil, ErrLedElsewhere
}
