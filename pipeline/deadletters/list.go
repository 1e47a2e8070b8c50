package deadletters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// ErrUnknown means that no dead letter has that place.
var ErrUnknown = errors.New("no such dead letter")

// Bus is a *bus.Client.
type Bus interface {
	wire.Publisher
	ReadAll(ctx context.Context, t bus.Topic, fn func(ingest.Record) error) error
}

// Letter is a dead letter and the topic of its record.
type Letter struct {
	ingest.Letter
	// Topic is without the deployment's prefix, empty if lethe does not read it.
	Topic bus.Topic
}

// Place identifies the refused record: topic, partition and offset. It has nothing personal, and marks go by it.
func (l Letter) Place() string {
	topic := string(l.Topic)
	if topic == "" {
		topic = l.Record.Topic
	}
	return topic + "/" + strconv.Itoa(l.Record.Partition) + "/" + strconv.FormatInt(l.Record.Offset, 10)
}

// Again returns the record to replay. Errors: ingest.ErrNotReplayable.
func (l Letter) Again(at time.Time) (ingest.Outgoing, error) {
	if l.Topic == "" {
		return ingest.Outgoing{}, fmt.Errorf("%w: lethe does not read its topic", ingest.ErrNotReplayable)
	}
	return l.Letter.Again(l.Place(), at)
}

// Filter selects dead letters. The zero value selects all.
type Filter struct {
	// Places, Reasons and Topics select any of theirs; empty selects all.
	Places  []string
	Reasons []ingest.Reason
	Topics  []bus.Topic
	// Since selects records written since, if not zero.
	Since time.Time
	// Open excludes replayed ones.
	Open bool
}

func (f Filter) chooses(l Letter) bool {
	among := func(n int, found bool) bool { return n == 0 || found }
	return among(len(f.Places), slices.Contains(f.Places, l.Place())) &&
		among(len(f.Reasons), slices.Contains(f.Reasons, l.Refusal.Reason)) &&
		among(len(f.Topics), slices.Contains(f.Topics, l.Topic)) &&
		!l.Record.Time.Before(f.Since) && (!f.Open || l.Replayed.IsZero())
}

// List returns the selected dead letters by topic, partition and offset of their records, without forged ones.
// Errors means that ErrUnknown for a place without one.
func List(ctx context.Context, topics Bus, f Filter) ([]Letter, error) {
	newest, marks := make(map[string]Letter), make(map[string]time.Time)
	err := topics.ReadAll(ctx, bus.DeadLetters, func(rec ingest.Record) error {
		if rec.Unauthenticated != "" {
			return nil
		}
		if mark, at, is := ingest.ReadMark(rec); is {
			marks[mark] = at
			return nil
		}
		key := string(rec.Key)
		delete(newest, key)
		if rec.Tombstone() {
			return nil
		}
		if letter, err := Read(rec); err == nil {
			newest[key] = letter
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out []Letter
	places := make(map[string]bool)
	for _, l := range newest {
		places[l.Place()] = true
		if at := marks[ingest.MarkOf(l.Place())]; !at.IsZero() {
			l.Replayed = at
		}
		if f.chooses(l) {
			out = append(out, l)
		}
	}
	for _, place := range f.Places {
		if !places[place] {
			return nil, fmt.Errorf("%w: %s", ErrUnknown, place)
		}
	}
	slices.SortFunc(out, func(a, b Letter) int {
		return cmp.Or(cmp.Compare(a.Record.Topic, b.Record.Topic), cmp.Compare(a.Record.Partition, b.Record.Partition),
			cmp.Compare(a.Record.Offset, b.Record.Offset))
	})
	return out, nil
}

// Read decodes a record of dlq.v1. Errors: ingest.ErrNotDeadLetter.
func Read(rec ingest.Record) (Letter, error) {
	letter, err := ingest.ReadDeadLetter(rec)
	return Letter{letter, topicOf(letter.Record.Topic)}, err
}

// Topics are those whose records can be replayed.
func Topics() []bus.Topic { return []bus.Topic{bus.Transactions, bus.Labels, bus.Erasures} }

// topicOf returns the one of Topics with a full name, or "".
func topicOf(name string) bus.Topic {
	for _, t := range Topics() {
		if name == string(t) || strings.HasSuffix(name, "."+string(t)) {
			return t
		}
	}
	return ""
}
