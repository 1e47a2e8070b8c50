package coordinator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// What is deleted stays in a log until its cleaner has come by, twice: it takes what a tombstone
// replaces first, and then the tombstone. A broker of this process is made to do that at once. Others
// do it in their own time: lethe asks them for the last of the records that are to go, one record of
// each partition concerned, and reads topics again only once that is gone.

const (
	// rollInterval is how often a marker is written while cleaning is waited for: Apache Kafka does
	// not clean a segment that is still written to, and begins the next one as something is
	// written that is segment.ms younger.
	rollInterval = time.Second
	// askInterval is how often a broker is asked whether a record is gone.
	askInterval = 250 * time.Millisecond
	// looksAnyway is after how long it is searched again all the same, at first; each time it is
	// twice as long.
	looksAnyway = time.Minute
	// cleanInterval is how often the broker of this process cleans its log while something is found.
	cleanInterval = 5 * time.Second
	// searchInterval is how long a cleaner that found nothing to remove is given before it is
	// looked again, at first; each time it is twice as long, up to the longest.
	searchInterval        = 700 * time.Millisecond
	longestSearchInterval = 10 * time.Second
)

// due are records that the cleaner is to remove: by partition, the offset of the last. A cleaner passes
// over a partition from its start, so that those before it are gone when it is.
type due map[bus.TopicPartition]int64

func (d due) note(at bus.TopicPartition, offset int64) { d[at] = max(d[at], offset) }

// partitions are those concerned, in order.
func (d due) partitions() []bus.TopicPartition {
	return slices.SortedFunc(maps.Keys(d), func(a, b bus.TopicPartition) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
}

// rolled are the partitions that markers are written to. By the one on erasures.v1 the cleaner of an
// embedded broker in another process knows that somebody waits.
func (d due) rolled() []bus.TopicPartition {
	list, signal := d.partitions(), bus.TopicPartition{Topic: bus.Erasures}
	if slices.Contains(list, signal) {
		return list
	}
	return append(list, signal)
}

// cleaning searches until nothing is found or the time is up, and has the broker of this process
// clean its log before each search.
func (u *underway) cleaning(ctx context.Context) (found *findings, err error) {
	pause := searchInterval
	var cleaned time.Time
	for found == nil || !found.clean() {
		now := u.Clock.Now()
		if !now.Before(u.deadline) {
			return found, errTimeUp
		}
		if now.Sub(cleaned) >= cleanInterval {
			if err := u.clean(ctx); err != nil {
				return found, err
			}
			cleaned = now
		}
		if found != nil { // a cleaner that ran at once needs no time
			if err := u.Clock.Sleep(ctx, pause); err != nil {
				return found, err
			}
			pause = min(2*pause, longestSearchInterval)
		}
		again, err := u.look(ctx)
		if err != nil {
			return found, err
		}
		found = again
	}
	return found, nil
}

// clean makes what was written so far old enough to be cleaned, and has it cleaned. Nothing is
// withdrawn from erasure-status.v1, which users read, so that it gets no markers unless something
// was found there, and nothing from the journal, which is not cleaned.
func (u *underway) clean(ctx context.Context) error {
	topics := slices.DeleteFunc(bus.Topics(), func(t bus.Topic) bool {
		return t == bus.Journal || t == bus.ErasureStatus && (u.topics[t] == nil || u.topics[t].clean())
	})
	if err := u.Bus.RollMarkers(ctx, topics...); err != nil {
		return err
	}
	if err := u.Compact(); err != nil {
		return fmt.Errorf("compact the embedded broker's log: %w", err)
	}
	return nil
}

// afterCleaning searches once the brokers' cleaner has removed what is known to be left, until nothing is
// found or the time is up.
func (u *underway) afterCleaning(ctx context.Context) (found *findings, err error) {
	left, err := u.left(ctx)
	for anyway := looksAnyway; err == nil; anyway *= 2 {
		if err := u.await(ctx, left, anyway); err != nil {
			return found, err
		}
		again, err := u.look(ctx)
		if err != nil {
			return found, err
		}
		if found = again; found.clean() {
			return found, nil
		}
		if !u.Clock.Now().Before(u.deadline) {
			return found, errTimeUp
		}
		left = found.due
	}
	return nil, err
}

// left tells what is left without reading again what was looked at before: what was found then, what came
// since, and whatever is found in the topics that were not looked at. These are not read again
// if it is nothing.
func (u *underway) left(ctx context.Context) (due, error) {
	left := make(due)
	for _, topic := range bus.Topics() {
		f := newFindings()
		behind, known := u.looked.behind(topic, left)
		var err error
		if known {
			err = u.since(ctx, topic, behind, f)
		}
		if !known || errors.Is(err, bus.ErrCorrupt) {
			f = newFindings()
			err = u.topic(ctx, topic, f)
			u.topics[topic] = f
		}
		if err != nil {
			delete(u.topics, topic)
			return nil, fmt.Errorf("search topic %s: %w", topic, err)
		}
		maps.Copy(left, f.due)
	}
	return left, nil
}

// since searches what came into a topic of records as their producers wrote them.
func (u *underway) since(ctx context.Context, topic bus.Topic, behind map[int]int64, f *findings) error {
	t := &topicSearch{scanner: u.scanner, topic: topic, f: f, here: f.at(string(topic)), looked: u.looked, held: u.held,
		copies: newCopies()}
	return u.asking(func() error {
		return u.Bus.ReadNew(ctx, topic, behind, func(rec ingest.Record) error {
			t.take(rec)
			return ctx.Err()
		})
	})
}

// behind returns, by partition, the position behind what was looked at of a topic, and adds to what is left
// what was found then. known says that the topic was looked at.
func (l looked) behind(topic bus.Topic, left due) (positions map[int]int64, known bool) {
	positions = make(map[int]int64)
	for at, through := range l.through {
		if at.Topic == topic {
			positions[at.Partition] = through + 1
		}
	}
	if len(positions) == 0 || !keepsOriginals(topic) {
		return nil, false
	}
	for at, offsets := range l.except {
		for offset := range offsets {
			if at.Topic == topic {
				left.note(at, offset)
			}
		}
	}
	return positions, true
}

// asking asks brokers for something. That does not count as time to verify, which is what their cleaners are
// given: a broker that is away is waited for as long as it is, and no request fails for that.
func (u *underway) asking(ask func() error) error {
	began := u.Clock.Now()
	err := ask()
	u.deadline = u.deadline.Add(max(0, u.Clock.Now().Sub(began)))
	return err
}

// await waits until the cleaner has removed what is left, a while has passed or the time to verify is up.
func (u *underway) await(ctx context.Context, left due, most time.Duration) error {
	until := u.Clock.Now().Add(most)
	for rolled := (time.Time{}); len(left) > 0; {
		now := u.Clock.Now()
		if !now.Before(until) || !now.Before(u.deadline) {
			return nil
		}
		if now.Sub(rolled) >= rollInterval {
			err := u.asking(func() error { return bus.RollPartitions(ctx, u.Bus, left.rolled()) })
			if err != nil {
				return err
			}
			rolled = now
		}
		if err := u.Clock.Sleep(ctx, askInterval); err != nil {
			return err
		}
		if err := u.asking(func() error { return u.gone(ctx, left) }); err != nil {
			return err
		}
	}
	return nil
}

// gone takes out what no broker holds any more.
func (u *underway) gone(ctx context.Context, left due) error {
	for _, at := range left.partitions() {
		held, err := u.Bus.Holds(ctx, at, left[at])
		if err != nil {
			return err
		}
		if !held {
			delete(left, at)
		}
	}
	return nil
}

// rolls are the markers that are written while topics are looked through for records whose keys were not known:
// those that were known are withdrawn already, and a cleaner may come by meanwhile, twice. More would keep it busy
// with what it has cleaned.
type rolls struct {
	s    Searcher
	last time.Time
	done int
}

func (r *rolls) roll(ctx context.Context) error {
	const passes = 2
	if r.s.Compact != nil || r.done == passes {
		return nil
	}
	now := r.s.Clock.Now()
	if r.last.IsZero() {
		r.last = now
	}
	if now.Sub(r.last) < bus.CleaningLag+rollInterval/2 {
		return nil
	}
	r.last, r.done = now, r.done+1
	return r.s.Bus.RollMarkers(ctx, bus.Transactions, bus.Labels, bus.Predictions, bus.Reasons)
}

// OfClients reports whether a file of the embedded broker holds what clients call themselves, and no records.
// lethe has no say in it: whoever may connect could else keep every erasure from its end.
func OfClients(file string) bool {
	switch strings.TrimSuffix(path.Base(file), ".tmp") {
	case "groups.log", "pids.log", "session_state.json":
		return true
	default:
		return false
	}
}
