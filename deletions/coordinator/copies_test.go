package coordinator

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// follower is a broker beside the slow one, which leads: transactions.v1 is kept by both. The slow one has cleaned its
// log, this one does so after it was asked some times.
type follower struct {
	*slowBroker
	log  []ingest.Record
	asks int
}

func (b *follower) ReadCopies(
	ctx context.Context, t bus.Topic, fn func(broker int32, rec ingest.Record) error,
) ([]int32, error) {
	if t != bus.Transactions {
		return b.slowBroker.ReadCopies(ctx, t, fn)
	}
	for broker, log := range [][]ingest.Record{b.logs[t], b.log} {
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
	secret, gone := lethe.Secret{5}, []byte("gone-transaction")
	prints, err := scan.TransactionFingerprints(secret, lethe.TransactionID(gone))
	require.NoError(t, err)
	scanner, err := scan.NewScanner(secret, prints)
	require.NoError(t, err)
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
		prints: prints, scanner: scanner, timeout: time.Minute, looked: known,
	})
	require.NoError(t, v.err)
	require.True(t, v.found.clean())
	require.Len(t, b.log, 1, "it was waited for until the other broker had cleaned its copy, too")
	at := slices.IndexFunc(v.found.places, func(p *deletions.PlaceSearch) bool {
		return p.Place == string(bus.Transactions)
	})
	require.Equal(t, []int32{0, 1}, v.found.places[at].Brokers)
	require.EqualValues(t, 2, v.found.places[at].Records, "one of each copy")
}
