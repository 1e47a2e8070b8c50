package graphs

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// The number of features that the stream has told is said on control.v1 as a setting of the
// stream, so that a store of graphs that was lost is made again with the same one: the
// transactions that told it may be erased by then. It is said before it is fixed, and once more when the
// dead letters of those that have another number are written. A process that stands by writes no dead
// letters, so it waits for that: who takes over before has all to write. And it waits until it has taken what who
// leads had, for timesteps close once the number is fixed, and refuse what comes then.

const (
	featureCountKey = wire.FeatureCountSetting
	// widthLettersKey is there, with widthLettersDue, as long as dead letters are to be written.
	widthLettersKey, widthLettersDue = "ingest.feature_count.dead_letters", "due"
	// widthTakenKey, with the number of a partition of transactions behind it, says up to where that was taken.
	widthTakenKey = "ingest.feature_count.taken."
)

// saidWidth is a number of features that was said, 0 for none.
type saidWidth struct {
	count int
	// due says that dead letters are to be written.
	due bool
	// taken is up to where partitions of transactions were taken when it was told. Earlier versions did not say it.
	taken map[int]int64
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

// sayFeatureCount says the number of features, once the dead letters are written, unless the topic tells it.
func (l *lifecycle) sayFeatureCount(ctx context.Context, count int) error {
	if l.said.count == count && !l.said.due {
		return nil
	}
	return l.sayWidth(ctx, saidWidth{count: count, taken: l.said.taken})
}

func (l *lifecycle) sayWidth(ctx context.Context, w saidWidth) error {
	values := map[string]string{featureCountKey: strconv.Itoa(w.count)}
	if w.due {
		values[widthLettersKey] = widthLettersDue
	}
	for partition, next := range w.taken {
		values[widthTakenKey+strconv.Itoa(partition)] = strconv.FormatInt(next, 10)
	}
	record, err := wire.Settings{Role: wire.Stream, Values: values}.Record()
	if err == nil {
		err = l.letters.turns.Write(ctx, bus.Control, []ingest.Outgoing{record})
	}
	if err == nil {
		l.said = w
	}
	return err
}

// readWidth returns the number of features that the topic tells.
func readWidth(ctx context.Context, topics Bus) (w saidWidth, err error) {
	var heard widthFence
	err = topics.ReadAll(ctx, bus.Control, func(rec ingest.Record) error {
		stale := heard.stale(rec)
		said, err := widthOf(rec)
		if said.count > 0 && !stale {
			w = said
		}
		return err
	})
	return w, err
}

// widthFence tells which numbers of features were said by who led no more: it hung in the midst of that, and they may
// come to the topic behind those of who leads. It is asked of all records of the topic, in their order.
type widthFence struct{ wire.Fence }

func (f *widthFence) stale(rec ingest.Record) bool {
	if rec.Unproven != "" || wire.LedBy(rec.Key) != roleName && !wire.IsOfStream(rec) {
		return false
	}
	by, tells := wire.OwnerOf(rec)
	return tells && f.Stale(by)
}

// hearWidth has the number of features said again when who led before has said one in its place.
func (l *lifecycle) hearWidth(records []ingest.Record) {
	for _, rec := range records {
		stale := l.heard.stale(rec)
		if said, err := widthOf(rec); err == nil && said.count > 0 && stale {
			l.said.count = 0
		}
	}
}

// widthOf returns the number of features that a record says. Others say what else is wrong with the topic.
func widthOf(rec ingest.Record) (w saidWidth, err error) {
	said, found, _ := wire.ParseSettings(rec)
	if !found || said.Role != wire.Stream {
		return w, nil
	}
	at := fmt.Sprintf("%s/%d@%d", rec.Topic, rec.Partition, rec.Offset)
	w.count, err = strconv.Atoi(said.Values[featureCountKey])
	if err != nil || w.count < 1 {
		return saidWidth{}, fmt.Errorf("%s: %s is %q, want a number of features", at, featureCountKey,
			said.Values[featureCountKey])
	}
	w.due, w.taken = said.Values[widthLettersKey] == widthLettersDue, make(map[int]int64)
	for key, value := range said.Values {
		of, is := strings.CutPrefix(key, widthTakenKey)
		if !is {
			continue
		}
		partition, err := strconv.Atoi(of)
		if err == nil {
			w.taken[partition], err = strconv.ParseInt(value, 10, 64)
		}
		if err != nil {
			return saidWidth{}, fmt.Errorf("%s: %s is %q, want an offset of a partition", at, key, value)
		}
	}
	return w, nil
}

// hearWidth notes the number of features that who leads has said: what told it may have been erased, or not have come
// yet, when this process would tell it.
func (s *standby) hearWidth(records []ingest.Record) error {
	for _, rec := range records {
		stale := s.lifecycle.heard.stale(rec)
		said, err := widthOf(rec)
		if err != nil {
			return err
		}
		if said.count > 0 && !stale && !said.due {
			s.width = said
		}
	}
	return nil
}

// takeWidth fixes the number of features that was heard, once all was taken here that who leads had taken as it told
// it. Whoever leads has dealt with all that was taken here: what a process had taken before as one that leads, it waits
// for as it begins to stand by.
func (s *standby) takeWidth() error {
	if s.width.count == 0 || s.store.FeatureCount() > 0 {
		return nil
	}
	taken := takenOf(s.store)
	for partition, next := range s.width.taken {
		if taken[partition] < next {
			return nil
		}
	}
	return s.store.Marks().FixFeatureCount(s.width.count)
}
