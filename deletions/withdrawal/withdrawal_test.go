package withdrawal

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions/scan"
	"lethe/deletions/search"
	"lethe/ingest"
	"lethe/ingest/bus"
)

var testSecret = lethe.Secret{1, 2, 3, 4}

// The tombstones that withdraw the known records were withdrawn once more as the graphs read them. That came after the
// topic was searched, now and then, and stayed there.
func TestOwnTombstonesAreNotWithdrawnAgain(t *testing.T) {
	ids, err := scan.IDFingerprints(testSecret, "transaction-1")
	require.NoError(t, err)
	n := New(Options{Secret: testSecret})
	n.scanner, err = scan.NewScanner(testSecret, ids)
	require.NoError(t, err)
	rec := ingest.Record{
		Topic: string(bus.Transactions), Key: []byte("transaction-1"),
		Headers: []ingest.Header{{Key: search.WithdrawnBy, Value: []byte("one")}},
	}
	named, err := n.Names(rec)
	require.NoError(t, err)
	require.False(t, named)
	for what, other := range map[string]func(r *ingest.Record){
		"a record":                         func(r *ingest.Record) { r.Value = []byte("{}") },
		"a tombstone of somebody else":     func(r *ingest.Record) { r.Headers = nil },
		"one that names it in its headers": func(r *ingest.Record) { r.Headers[0].Value = []byte("transaction-1") },
	} {
		r := rec
		r.Headers = slices.Clone(rec.Headers)
		other(&r)
		named, err := n.Names(r)
		require.NoError(t, err)
		require.True(t, named, what)
	}
}

// While records that had been published again were on their way, the tombstone of what names something erased was
// withdrawn as it was read, by another tombstone, for ever. What was published again and was then erased itself stayed
// on its way as it was read, and for ever too.
func TestATombstoneIsNotWithdrawnWhileRecordsAreOnTheirWay(t *testing.T) {
	ids, err := scan.IDFingerprints(testSecret, "transaction-1")
	require.NoError(t, err)
	n := New(Options{Secret: testSecret})
	n.scanner, err = scan.NewScanner(testSecret, ids)
	require.NoError(t, err)
	rec := ingest.Record{
		Topic: string(bus.Transactions), Key: []byte("transaction-1"), Value: []byte(`{"id":"transaction-1"}`),
	}
	other := ingest.Outgoing{Key: []byte("transaction-2"), Value: []byte("{}")}
	again := ingest.Republished(testSecret, rec, rec.Value, false)
	n.addUnderWay(bus.Transactions, []ingest.Outgoing{other, again})
	deleted := rec
	deleted.Value = nil
	kept, err := n.Strip(deleted, false)
	require.NoError(t, err)
	require.False(t, kept.Names)
	rec.Headers = again.Headers
	kept, err = n.Strip(rec, false)
	require.NoError(t, err)
	require.True(t, kept.Names)
	require.Len(t, n.underWay, 1)
	deleted.Headers = []ingest.Header{{Key: "trace", Value: []byte("transaction-1")}}
	kept, err = n.Strip(deleted, false)
	require.NoError(t, err)
	require.True(t, kept.Names, "its headers are withdrawn")
}

// A record that was published again is removed by compaction before it is read if a later one of its key has come: it
// stayed on its way until a restart, and so did every later record of the key.
func TestStrip_RepublishedRecordRemovedByCompaction_IsOnItsWayNoMore(t *testing.T) {
	n := New(Options{Secret: testSecret})
	var err error
	n.scanner, err = scan.NewScanner(testSecret, nil)
	require.NoError(t, err)
	strip := func(rec ingest.Record) bool {
		kept, err := n.Strip(rec, true)
		require.NoError(t, err)
		require.False(t, kept.Cut)
		return kept.Again
	}
	first := ingest.Record{Topic: string(bus.Transactions), Offset: 5, Key: []byte("t"), Value: []byte(`{"id":"t"}`)}
	publish := func(rec ingest.Record, at int64) ingest.Record {
		out := ingest.Republished(testSecret, rec, rec.Value, false)
		n.addUnderWay(bus.Transactions, []ingest.Outgoing{out})
		rec.Offset, rec.Headers = at, out.Headers
		return rec
	}
	replaced := publish(first, 8)
	second := first
	second.Offset = 7
	require.True(t, strip(second), "it was sent while a record before it was published again")
	last := publish(second, 9)
	require.False(t, strip(last)) // the first one is gone
	require.Empty(t, n.underWay)

	// If it is still there, what stands between the two is published again.
	n.addUnderWay(bus.Transactions, []ingest.Outgoing{{Key: first.Key, Value: first.Value, Headers: last.Headers}})
	require.False(t, strip(replaced))
	require.True(t, strip(second))
}
