package search

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"lethe/ingest/bus"
)

// Deleted records stay in a log until its cleaner has run twice: first it removes the records that a tombstone
// replaces, then the tombstone. The cleaner of this process's own broker runs on demand. Others run in their own time:
// lethe queries whether they still hold the last record to be removed of each partition, and reads topics again once
// it is gone.

const (
	// rollInterval is how often a marker is written while waiting. Kafka does not clean the active segment, and rolls
	// it at the first write after segment.ms.
	rollInterval = time.Second
	// askInterval is how often a broker is asked about a record.
	askInterval = 250 * time.Millisecond
	// firstRecheck is the delay before topics are searched again although records remain; it doubles each time.
	firstRecheck = time.Minute
	// cleanInterval is how often the own broker cleans its log while something is found.
	cleanInterval = 5 * time.Second
	// searchInterval is the pause between searches, doubled up to the longest.
	searchInterval        = 700 * time.Millisecond
	longestSearchInterval = 10 * time.Second
)

// Run searches until done or the context ends.
func (s Searcher) Run(ctx context.Context, search *Search) Verdict {
	if search.Locates {
		return s.locate(ctx, search)
	}
	v := Verdict{RequestIDs: search.RequestIDs}
	u := s.begin(search)
	if s.Compact == nil {
		v.Found, v.Err = u.afterCleaning(ctx)
	} else {
		v.Found, v.Err = u.cleaning(ctx)
	}
	return v
}

// cleaning searches until nothing is found or the time is up, running the own broker's cleaner before.
func (u *underway) cleaning(ctx context.Context) (found *Findings, err error) {
	pause := searchInterval
	var cleaned time.Time
	for found == nil || !found.Clean() {
		now := u.Clock.Now()
		if !now.Before(u.deadline) {
			return found, ErrTimeUp
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

// clean rolls markers and runs the cleaner. erasure-status.v1, which users read, gets markers only if something was
// found there; the journal is never compacted.
func (u *underway) clean(ctx context.Context) error {
	topics := slices.DeleteFunc(bus.Topics(), func(t bus.Topic) bool {
		return t == bus.Journal || t == bus.ErasureStatus && (u.topics[t] == nil || u.topics[t].Clean())
	})
	if err := u.Bus.RollMarkers(ctx, topics...); err != nil {
		return err
	}
	if err := u.Compact(); err != nil {
		return fmt.Errorf("compact the embedded broker's log: %w", err)
	}
	return nil
}

// afterCleaning searches once the brokers have removed the remains, until nothing is found or the time is up.
func (u *underway) afterCleaning(ctx context.Context) (found *Findings, err error) {
	left, err := u.left(ctx)
	for anyway := firstRecheck; err == nil; anyway *= 2 {
		if err := u.await(ctx, left, anyway); err != nil {
			return found, err
		}
		again, err := u.look(ctx)
		if err != nil {
			return found, err
		}
		if found = again; found.Clean() {
			return found, nil
		}
		if !u.Clock.Now().Before(u.deadline) {
			return found, ErrTimeUp
		}
		left = found.due
	}
	return nil, err
}

// left returns the remaining records without reading the searched ones again: the previous findings, those of newer
// records, and of topics not searched before.
func (u *underway) left(ctx context.Context) (due, error) {
	left := make(due)
	for _, topic := range bus.Topics() {
		f := newFindings()
		behind, known := u.Looked.Behind(topic)
		var err error
		if known {
			u.Looked.leftOf(topic, left)
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

// await waits until the remaining records are removed, most has passed or the time is up.
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

// gone drops the records that no broker holds any more.
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

// rolls writes markers while topics are searched for records of unknown keys, so that the cleaner can remove known
// ones meanwhile: two passes, more would only keep it busy.
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
