package search

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// slowBroker is one whose cleaner comes by after it was asked some times.
type slowBroker struct {
	logs map[bus.Topic][]ingest.Record
	// asks are left until what is not to stay is removed; never is the one that never comes by.
	asks  int
	never bool
	now   time.Time
	// whole and ends count how often a topic was read, rolled the markers of partitions.
	whole, ends map[bus.Topic]int
	rolled      map[bus.TopicPartition]int
}

func (b *slowBroker) ReadEvery(_ context.Context, t bus.Topic, fn func(ingest.Record) error, _ func(*bus.Gap)) error {
	b.whole[t]++
	return memoryLog(b.logs[t]).each(fn)
}

func (b *slowBroker) ReadCopies(
	ctx context.Context, t bus.Topic, fn func(broker int32, rec ingest.Record) error, around func(int32, *bus.Gap),
) ([]int32, error) {
	return nil, b.ReadEvery(ctx, t, func(rec ingest.Record) error { return fn(bus.OneCopy, rec) }, nil)
}

func (b *slowBroker) ReadNew(
	_ context.Context, t bus.Topic, positions map[int]int64, fn func(ingest.Record) error,
) error {
	b.ends[t]++
	for _, rec := range b.logs[t] {
		if rec.Offset < positions[rec.Partition] {
			continue
		}
		if err := fn(rec); err != nil {
			return err
		}
	}
	return nil
}

func (b *slowBroker) Holds(_ context.Context, at bus.TopicPartition, offset int64) (bool, error) {
	if b.asks--; b.asks <= 0 && !b.never {
		b.logs[at.Topic] = nil
	}
	for _, rec := range b.logs[at.Topic] {
		if rec.Partition == at.Partition && rec.Offset == offset {
			return true, nil
		}
	}
	return false, nil
}

func (b *slowBroker) Write(_ context.Context, t bus.Topic, records []ingest.Outgoing) error {
	for _, rec := range records {
		b.rolled[bus.TopicPartition{Topic: t, Partition: rec.Partition}]++
	}
	return nil
}

func (b *slowBroker) RollMarkers(context.Context, ...bus.Topic) error    { return nil }
func (b *slowBroker) Partitions(context.Context, bus.Topic) (int, error) { return 1, nil }
func (b *slowBroker) Now() time.Time                                     { return b.now }
func (b *slowBroker) Sleep(_ context.Context, d time.Duration) error {
	b.now = b.now.Add(d)
	return nil
}
func newSlowBroker(asks int, logs map[bus.Topic][]ingest.Record) *slowBroker {
	return &slowBroker{
		logs: logs, asks: asks, now: time.Unix(1, 0), whole: make(map[bus.Topic]int), ends: make(map[bus.Topic]int),
		rolled: make(map[bus.TopicPartition]int),
	}
}

// seeking returns what is looked for of a transaction, and a scanner that does.
func seeking(t *testing.T, id []byte) ([]scan.Fingerprint, *scan.Scanner) {
	t.Helper()
	secret := lethe.Secret{5}
	prints, err := scan.TransactionFingerprints(secret, lethe.TransactionID(id))
	require.NoError(t, err)
	scanner, err := scan.NewScanner(secret, prints)
	require.NoError(t, err)
	return prints, scanner
}

// While brokers have not cleaned the logs, lethe asks for the last record of each partition that is to go, writes
// markers to these partitions alone, and reads topics once when they are gone.
func TestTopicsAreReadOnceTheCleanerHasPassed(t *testing.T) {
	gone := []byte("gone-transaction")
	prints, scanner := seeking(t, gone)
	logs := func() map[bus.Topic][]ingest.Record {
		return map[bus.Topic][]ingest.Record{
			bus.Transactions: {
				{Partition: 1, Offset: 3, Key: gone, Value: []byte(`{"id":"gone-transaction"}`)},
				{Partition: 1, Offset: 9, Key: gone}, // its tombstone
			},
			bus.Models: {
				{Offset: 4, Key: []byte("m/0"), Value: []byte("before")}, {Offset: 6, Key: []byte("m/0"), Value: []byte("after")},
			},
		}
	}
	at := bus.TopicPartition{Topic: bus.Transactions, Partition: 1}
	known := lookedFor(prints)
	known.through[at], known.except[at] = 3, map[int64]bool{3: true}
	for name, c := range map[string]struct {
		looked Looked
		// reads are how often transactions are read as a whole.
		reads int
	}{
		"looked at before": {known, 1}, "not looked at": {Looked{}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			b := newSlowBroker(60, logs())
			search := &Search{Prints: prints, Scanner: scanner, Timeout: time.Minute, Looked: c.looked}
			v := Searcher{Bus: b, Clock: b}.Run(t.Context(), search)
			require.NoError(t, v.Err)
			require.True(t, v.Found.Clean())
			require.Equal(t, c.reads, b.whole[bus.Transactions])
			require.Equal(t, 2, b.whole[bus.Models], "once to see what is replaced, once when that is gone")
			require.Equal(t, 1, b.whole[bus.Predictions], "nothing was found there")
			require.Len(t, b.rolled, 3, "markers where something is to go, and one for embedded brokers")
			require.Contains(t, b.rolled, bus.TopicPartition{Topic: bus.Erasures})
			require.InDelta(t, 7, b.rolled[at], 4, "a marker a second")
		})
	}

	b := newSlowBroker(0, logs())
	b.never = true
	v := Searcher{Bus: b, Clock: b}.Run(t.Context(), &Search{Prints: prints, Scanner: scanner, Timeout: 5 * time.Minute})
	require.ErrorIs(t, v.Err, ErrTimeUp)
	require.NotNil(t, v.Found, "what is left is known when the time is up")
	require.Equal(t, []string{string(bus.Transactions), string(bus.Models)}, v.Found.Dirty())
	require.LessOrEqual(t, b.whole[bus.Transactions], 4)
}

// hungBroker is a slow one that answers nothing for an hour when something of a kind is asked of it for the
// first time.
type hungBroker struct {
	*slowBroker
	hung map[string]bool
}

func (b hungBroker) hangs(at string) {
	if !b.hung[at] {
		b.hung[at], b.now = true, b.now.Add(time.Hour)
	}
}

func (b hungBroker) ReadCopies(
	ctx context.Context, t bus.Topic, fn func(broker int32, rec ingest.Record) error, around func(int32, *bus.Gap),
) ([]int32, error) {
	b.hangs("read")
	return b.slowBroker.ReadCopies(ctx, t, fn, around)
}

func (b hungBroker) ReadNew(ctx context.Context, t bus.Topic, from map[int]int64, fn func(ingest.Record) error) error {
	b.hangs("read the end")
	return b.slowBroker.ReadNew(ctx, t, from, fn)
}

func (b hungBroker) Holds(ctx context.Context, at bus.TopicPartition, offset int64) (bool, error) {
	b.hangs("ask")
	return b.slowBroker.Holds(ctx, at, offset)
}

func (b hungBroker) Write(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error {
	b.hangs("write")
	return b.slowBroker.Write(ctx, t, records)
}

// The time to verify is what cleaners are given. While a broker is away nothing can be cleaned or asked, and that is no
// reason for a request to fail.
func TestABrokerThatHangsTakesNothingOfTheTimeToVerify(t *testing.T) {
	gone := []byte("gone-transaction")
	prints, scanner := seeking(t, gone)
	known := lookedFor(prints)
	known.through[bus.TopicPartition{Topic: bus.Transactions}] = 3
	known.except[bus.TopicPartition{Topic: bus.Transactions}] = map[int64]bool{3: true}
	b := hungBroker{newSlowBroker(60, map[bus.Topic][]ingest.Record{
		bus.Transactions: {{Offset: 3, Key: gone, Value: []byte(`{"id":"gone-transaction"}`)}},
	}), make(map[string]bool)}
	v := Searcher{Bus: b, Clock: b}.Run(t.Context(), &Search{
		Prints: prints, Scanner: scanner, Timeout: time.Minute, Looked: known,
	})
	require.NoError(t, v.Err)
	require.True(t, v.Found.Clean())
	require.Len(t, b.hung, 4)
}
