package graphs

import (
	"context"
	"fmt"
	"strconv"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// The number of features that the stream has told is said on control.v1 as a setting of the
// stream, so that a store of graphs that was lost is made again with the same one: the
// transactions that told it may be erased by then. It is said before it is fixed, and once more when the
// dead letters of those that have another number are written. A process that stands by writes no dead
// letters, so it waits for that: who takes over before has all to write.

const (
	featureCountKey = "ingest.feature_count"
	// widthLettersKey is there, with widthLettersDue, as long as dead letters are to be written.
	widthLettersKey, widthLettersDue = "ingest.feature_count.dead_letters", "due"
)

// saidWidth is a number of features that was said, 0 for none, and whether dead letters are to be written.
type saidWidth struct {
	count int
	due   bool
}

// sayFeatureCount says the number of features, once in a run, when the dead letters are written.
func (l *lifecycle) sayFeatureCount(ctx context.Context, count int) error {
	if l.said {
		return nil
	}
	err := l.sayWidth(ctx, saidWidth{count: count})
	l.said = err == nil
	return err
}

func (l *lifecycle) sayWidth(ctx context.Context, w saidWidth) error {
	values := map[string]string{featureCountKey: strconv.Itoa(w.count)}
	if w.due {
		values[widthLettersKey] = widthLettersDue
	}
	record, err := wire.Settings{Role: wire.Stream, Values: values}.Record()
	if err != nil {
		return err
	}
	return l.letters.turns.Write(ctx, bus.Control, []ingest.Outgoing{record})
}

// saidFeatureCount returns the number of features that the topic tells, or 0.
func saidFeatureCount(ctx context.Context, topics Bus) (count int, err error) {
	err = topics.ReadAll(ctx, bus.Control, func(rec ingest.Record) error {
		said, err := widthOf(rec)
		if said.count > 0 {
			count = said.count
		}
		return err
	})
	return count, err
}

// widthOf returns the number of features that a record says. Others say what else is wrong with the topic.
func widthOf(rec ingest.Record) (w saidWidth, err error) {
	said, found, _ := wire.ParseSettings(rec)
	if !found || said.Role != wire.Stream {
		return w, nil
	}
	count, err := strconv.Atoi(said.Values[featureCountKey])
	if err != nil || count < 1 {
		return w, fmt.Errorf("%s/%d@%d: %s is %q, want a number of features", rec.Topic, rec.Partition, rec.Offset,
			featureCountKey, said.Values[featureCountKey])
	}
	return saidWidth{count, said.Values[widthLettersKey] == widthLettersDue}, nil
}

// hearWidth notes the number of features that who leads has said: what told it may have been erased, or not have come
// yet, when this process would tell it.
func (s *standby) hearWidth(records []ingest.Record) error {
	for _, rec := range records {
		said, err := widthOf(rec)
		if err != nil {
			return err
		}
		if said.count > 0 && !said.due {
			s.width = said.count
		}
	}
	return nil
}

// takeWidth fixes the number of features that was heard. Whoever leads has dealt with all that was taken here: what a
// process had taken before as one that leads, it waits for as it begins to stand by.
func (s *standby) takeWidth() error {
	if s.width == 0 {
		return nil
	}
	return s.store.Marks().FixFeatureCount(s.width)
}
