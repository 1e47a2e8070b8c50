package search

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// follower is a broker beside the slow one, which leads: transactions.v1 is kept by both. The slow one has cleaned its
// log, this one does so after it was asked some times.
type follower struct {
	*slowBroker
	log  []ingest.Record
	asks int
	// damaged is what cannot be read in its copy.
	damaged *bus.Gap
}

func (b *follower) ReadCopies(
	ctx context.Context, t bus.Topic, fn func(broker int32, rec ingest.Record) error, around func(int32, *bus.Gap),
) ([]int32, error) {
	if t != bus.Transactions {
		return b.slowBroker.ReadCopies(ctx, t, fn, around)
	}
	for broker, log := range [][]ingest.Record{b.logs[t], b.log} {
		if broker == 1 && b.damaged != nil {
			around(int32(broker), b.damaged)
		}
		for _, rec := range log {
			if err := fn(int32(broker), rec); err != nil {
				return nil, err
			}
		}
	}
	return []int32{0, 1}, nil
}

func (b *follower) Holds(_ context.Context, at bus.TopicPartition, offset int64) (bool, error) {
	if b.asks--; b.asks <= 0 {
		b.log = b.log[len(b.log)-1:]
	}
	return slices.ContainsFunc(b.log, func(rec ingest.Record) bool { return rec.Offset == offset }), nil
}

// A broker that has not cleaned its copy of a topic holds what the leader has removed already, also where the leader's
// copy was looked at before and held nothing.
func TestEveryBrokersCopyIsSearched(t *testing.T) {
	gone := []byte("gone-transaction")
	prints, scanner := seeking(t, gone)
	stays := ingest.Record{Partition: 1, Offset: 12, Key: []byte("other"), Value: []byte(`{"id":"other"}`)}
	known := lookedFor(prints)
	known.through[bus.TopicPartition{Topic: bus.Transactions, Partition: 1}] = 12

	b := &follower{
		slowBroker: newSlowBroker(0, map[bus.Topic][]ingest.Record{bus.Transactions: {stays}}),
		log: []ingest.Record{
			{Partition: 1, Offset: 3, Key: gone, Value: []byte(`{"id":"gone-transaction"}`)},
			{Partition: 1, Offset: 9, Key: gone}, // its tombstone
			stays,
		},
		asks: 20,
	}
	v := Searcher{Bus: b, Clock: b}.Run(t.Context(), &Search{
		Prints: prints, Scanner: scanner, Timeout: time.Minute, Looked: known,
	})
	require.NoError(t, v.Err)
	require.True(t, v.Found.Clean())
	require.Len(t, b.log, 1, "it was waited for until the other broker had cleaned its copy, too")
	at := slices.IndexFunc(v.Found.Places, func(p *deletions.PlaceSearch) bool {
		return p.Place == string(bus.Transactions)
	})
	require.Equal(t, []int32{0, 1}, v.Found.Places[at].Brokers)
	require.EqualValues(t, 2, v.Found.Places[at].Records, "one of each copy")
}

// What one broker's copy alone cannot give was cleaned from the others, or will be: it may hold any target.
func TestADamagedCopyHoldsUpEverybody(t *testing.T) {
	prints, scanner := seeking(t, []byte("gone-transaction"))
	stays := ingest.Record{Partition: 1, Offset: 12, Key: []byte("other"), Value: []byte(`{"id":"other"}`)}
	b := &follower{
		slowBroker: newSlowBroker(0, map[bus.Topic][]ingest.Record{bus.Transactions: {stays}}), log: []ingest.Record{stays},
		damaged: &bus.Gap{Partition: 1, From: 3, To: 5, Bytes: 70},
	}
	search := &Search{Prints: prints, Scanner: scanner, Timeout: time.Minute}
	v := Searcher{Bus: b, Clock: b}.Run(t.Context(), search)
	require.NoError(t, v.Err)
	require.Len(t, v.Found.Unreadable(), 1)
	require.Equal(t, int64(4), v.Found.Unreadable()[0].Last)

	b.logs[bus.Transactions], b.log = nil, nil
	v = Searcher{Bus: b, Clock: b}.Run(t.Context(), search)
	require.NoError(t, v.Err)
	require.Empty(t, v.Found.Unreadable(), "no copy is known to have it whole")
}
