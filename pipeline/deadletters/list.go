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

// ErrUnknown is returned for a place that no dead letter names.
var ErrUnknown = errors.New("no such dead letter")

// Bus is what this package needs of the topics; *bus.Client is one.
type Bus interface {
	wire.Publisher
	// ReadAll reads a topic from its start to where it ends now.
	ReadAll(ctx context.Context, t bus.Topic, fn func(ingest.Record) error) error
}

// Letter is a dead letter with the name that an operator gives it.
type Letter struct {
	ingest.Letter
	// Topic is that of the refused record, without the deployment's prefix; empty for one that
	// lethe does not read.
	Topic bus.Topic
}

// Place names the refused record: topic, partition and offset. It holds nothing personal, and
// the letter's mark goes by it.
func (l Letter) Place() string {
	topic := string(l.Topic)
	if topic == "" {
		topic = l.Record.Topic
	}
	return topic + "/" + strconv.Itoa(l.Record.Partition) + "/" + strconv.FormatInt(l.Record.Offset, 10)
}

// Again returns the record as it is sent again at a time. The error is
// ingest.ErrNotReplayable with the reason.
func (l Letter) Again(at time.Time) (ingest.Outgoing, error) {
	if l.Topic == "" {
		return ingest.Outgoing{}, fmt.Errorf("%w: lethe does not read its topic", ingest.ErrNotReplayable)
	}
	return l.Letter.Again(l.Place(), at)
}

// Filter chooses dead letters. The zero value chooses all.
type Filter struct {
	// Places, Reasons and Topics choose those with one of them; empty, any.
	Places  []string
	Reasons []ingest.Reason
	Topics  []bus.Topic
	// Since chooses records that were written at that time or later, if it is not zero.
	Since time.Time
	// Open leaves out those whose records were sent again.
	Open bool
}

func (f Filter) chooses(l Letter) bool {
	among := func(n int, found bool) bool { return n == 0 || found }
	return among(len(f.Places), slices.Contains(f.Places, l.Place())) &&
		among(len(f.Reasons), slices.Contains(f.Reasons, l.Refusal.Reason)) &&
		among(len(f.Topics), slices.Contains(f.Topics, l.Topic)) &&
		!l.Record.Time.Before(f.Since) && (!f.Open || l.Replayed.IsZero())
}

// List returns the dead letters that a filter chooses, by topic, partition and offset of the
// refused records. Records of the topic that are no dead letters, or
// that the client knows to be forged, are passed over. A place that
// no letter has is ErrUnknown.
func List(ctx context.Context, topics Bus, f Filter) ([]Letter, error) {
	newest, marks := make(map[string]Letter), make(map[string]time.Time)
	err := topics.ReadAll(ctx, bus.DeadLetters, func(rec ingest.Record) error {
		if rec.Unproven != "" {
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

// Read reads a record of dlq.v1. The error is ingest.ErrNotDeadLetter.
func Read(rec ingest.Record) (Letter, error) {
	letter, err := ingest.ReadDeadLetter(rec)
	return Letter{letter, topicOf(letter.Record.Topic)}, err
}

// Topics are those whose records become dead letters and can be sent again.
func Topics() []bus.Topic { return []bus.Topic{bus.Transactions, bus.Labels, bus.Erasures} }

// topicOf returns which of Topics a full name is of, if any.
func topicOf(name string) bus.Topic {
	for _, t := range Topics() {
		if name == string(t) || strings.HasSuffix(name, "."+string(t)) {
			return t
		}
	}
	return ""
}
