package coordinator

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/normalise"
)

// A transaction that came after an erasure was planned, with the very features of the
// one erased, was found for ever, so that the request was never verified.
func TestFeaturesOfAnotherAreNotSearchedFor(t *testing.T) {
	d := deploy(t).carryOut(alone(), 0, false)
	require.NotContains(t, d.statement("one").NotSearched, scan.KindFeatures)

	d = deploy(t)
	d.graphs.alike[contentOf("transaction-1")] = true
	d.carryOut(alone(), 0, false)
	require.Contains(t, d.statement("one").NotSearched, scan.KindFeatures)
	e, err := d.states.o.Ledger.Get("one")
	require.NoError(t, err)
	require.Empty(t, e.Progress.Rows)
	require.NotEmpty(t, e.Progress.Fingerprints)
	for _, f := range e.Progress.Fingerprints {
		require.NotEqual(t, scan.KindFeatures, f.Kind)
	}
}

// Its record was withdrawn from the topic, and a dead letter of it was never written.
func TestARecordIsNotWithdrawnForTheFeaturesOfAnother(t *testing.T) {
	row := []float32{1.5, -2.25, 3.125, 4.75}
	prints, err := scan.RowFingerprints(testSecret, row)
	require.NoError(t, err)
	ids, err := scan.IDFingerprints(testSecret, "transaction-1")
	require.NoError(t, err)
	scanner, err := scan.NewScanner(testSecret, append(prints, ids...))
	require.NoError(t, err)
	for _, c := range []struct {
		key, value string
		found      bool
	}{
		{"transaction-2",
			`{"type":"transaction","id":"transaction-2","timestep":3,"features":[1.5,-2.25,3.125,4.75]}`, false},
		{"transaction-1", `{"type":"transaction","id":"transaction-1","timestep":3,"features":[1.5,-2.25,3.125,4.75]}`, true},
		{"transaction-2", `{"id":"transaction-2","note":"transaction-1","features":[1.5,-2.25,3.125,4.75]}`, true},
		{"transaction-2", `{"id":"transaction-3","features":[1.5,-2.25,3.125,4.75]}`, true},
		{"transaction-2", `{"id":"transaction-2","features":[1.5,-2.25,3.125,4.75], cut`, true},
		{"x", `{"features":[1.5,-2.25,3.125,4.75]}`, true},
	} {
		rec := ingest.Record{Topic: string(bus.Transactions), Key: []byte(c.key), Value: []byte(c.value)}
		require.Equal(t, c.found, len(hitsIn(scanner, rec)) > 0, c.value)
	}
}

// The tombstones that withdraw the known records were withdrawn once more as the graphs read them. That came after the
// topic was searched, now and then, and stayed there.
func TestOwnTombstonesAreNotWithdrawnAgain(t *testing.T) {
	ids, err := scan.IDFingerprints(testSecret, "transaction-1")
	require.NoError(t, err)
	n := &Erased{}
	n.scanner, err = scan.NewScanner(testSecret, ids)
	require.NoError(t, err)
	rec := ingest.Record{
		Topic: string(bus.Transactions), Key: []byte("transaction-1"),
		Headers: []ingest.Header{{Key: withdrawnBy, Value: []byte("one")}},
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
	n := &Erased{secret: testSecret, underWay: make(map[place]int64)}
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
	_, _, names, err := n.Strip(deleted, false)
	require.NoError(t, err)
	require.False(t, names)
	rec.Headers = again.Headers
	_, _, names, err = n.Strip(rec, false)
	require.NoError(t, err)
	require.True(t, names)
	require.Len(t, n.underWay, 1)
	deleted.Headers = []ingest.Header{{Key: "trace", Value: []byte("transaction-1")}}
	_, _, names, err = n.Strip(deleted, false)
	require.NoError(t, err)
	require.True(t, names, "its headers are withdrawn")
}

// A record that was published again is removed by compaction before it is read if a later one of its key has come: it
// stayed on its way until a restart, and so did every later record of the key.
func TestStrip_RepublishedRecordRemovedByCompaction_IsOnItsWayNoMore(t *testing.T) {
	n := &Erased{secret: testSecret, underWay: make(map[place]int64)}
	var err error
	n.scanner, err = scan.NewScanner(testSecret, nil)
	require.NoError(t, err)
	strip := func(rec ingest.Record) bool {
		_, again, _, err := n.Strip(rec, true)
		require.NoError(t, err)
		return again
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

// A batch in another partition than that of a target's key in normal form held nobody up, though the target's records
// may have a key in another spelling, which is in any partition.
func TestABatchThatNobodyCanReadHoldsUpOtherSpellings(t *testing.T) {
	const partitions = 64
	of := func(rule normalise.Rule, id lethe.TransactionID, partition int) bool {
		l := located{unreadable: map[bus.Topic][]deletions.UnreadableBatch{bus.Labels: {{Partition: partition}}}}
		held, err := l.heldUp(batch{members: []deletions.Entry{{RequestID: "one"}}},
			[][]lethe.Target{lethe.Transactions(id)}, rule, func(bus.Topic) (int, error) { return partitions, nil })
		require.NoError(t, err)
		return len(held) > 0
	}
	nfc := normalise.Rule{normalise.NFC}
	for _, id := range []lethe.TransactionID{"caf\u00e9", "cafe"} {
		own := bus.PartitionOf(ingest.TransactionKey(id), partitions)
		require.True(t, of(nfc, id, own), id)
		require.Equal(t, id != "cafe", of(nfc, id, (own+1)%partitions), id)
		require.False(t, of(nil, id, (own+1)%partitions), id)
	}
}

// What carries an erased subject was withdrawn before it was taken, so that nobody asked for
// what it brought, and what was redacted before it was taken lost that it is refused as late.
func TestWhatHasToBeTakenFirstIsNotWithdrawnBefore(t *testing.T) {
	subject, err := scan.SubjectFingerprints(testSecret, "customer-1", 3)
	require.NoError(t, err)
	features, _, err := scan.TargetFingerprints(testSecret, lethe.FeaturesOf("transaction-2"))
	require.NoError(t, err)
	id, err := scan.IDFingerprints(testSecret, "transaction-3")
	require.NoError(t, err)
	prints := append(append(subject, features...), id...)
	scanner, err := scan.NewScanner(testSecret, prints)
	require.NoError(t, err)
	log := memoryLog{
		{Offset: 0, Key: []byte("transaction-1"),
			Value: []byte(`{"type":"transaction","id":"transaction-1","timestep":3,"features":[1],"subjects":["customer-1"]}`)},
		{Offset: 1, Key: []byte("transaction-2"),
			Value: []byte(`{"type":"transaction","id":"transaction-2","timestep":3,"features":[7]}`)},
		{Offset: 2, Key: []byte("transaction-3"),
			Value: []byte(`{"type":"transaction","id":"transaction-3","timestep":3,"features":[1]}`)},
	}
	withdrawn := func(taken int64) (keys []string) {
		search := &Search{
			prints: prints, scanner: scanner, secret: testSecret, locates: true, taken: map[int]int64{0: taken},
		}
		found := Searcher{Bus: log, Clock: WallClock{}}.Run(t.Context(), search)
		require.NoError(t, found.err)
		for _, record := range found.located.sources.tombstones[bus.Transactions] {
			keys = append(keys, string(record.Key))
		}
		return keys
	}
	require.Equal(t, []string{"transaction-1", "transaction-2", "transaction-3"}, withdrawn(3))
	require.Equal(t, []string{"transaction-1", "transaction-3"}, withdrawn(1))
	require.Equal(t, []string{"transaction-3"}, withdrawn(0))
}

// A producer's key may be empty: it is a key of its topic as others are, and none at all is not the same.
func TestRecordsWithAnEmptyKeyAreWithdrawn(t *testing.T) {
	prints, err := scan.IDFingerprints(testSecret, "transaction-1")
	require.NoError(t, err)
	scanner, err := scan.NewScanner(testSecret, prints)
	require.NoError(t, err)
	rec := ingest.Record{Key: []byte{}, Value: []byte(`{"type":"transaction","id":"transaction-1","features":[1]}`)}
	without := ingest.Record{Offset: 1, Value: rec.Value}
	found := Searcher{Bus: memoryLog{rec, without}, Clock: WallClock{}}.Run(t.Context(), &Search{
		prints: prints, scanner: scanner, secret: testSecret, locates: true, taken: map[int]int64{0: 1},
	})
	require.NoError(t, found.err)
	require.Equal(t, []ingest.Outgoing{{Key: []byte{}, Pinned: true}}, found.located.sources.tombstones[bus.Transactions])
	require.Equal(t, []ingest.Outgoing{{Key: []byte{}, Pinned: true}}, found.located.letters.tombstones[bus.DeadLetters])
}

// What grows as its features are taken out of it, more than its topic takes, was published again all the same, and
// ended the process. It is refused for its features whatever they are.
func TestWhatIsTooLargeToBePublishedAgainIsWithdrawn(t *testing.T) {
	prints, _, err := scan.TargetFingerprints(testSecret, lethe.FeaturesOf("transaction-1", 0))
	require.NoError(t, err)
	scanner, err := scan.NewScanner(testSecret, prints)
	require.NoError(t, err)
	for _, c := range []struct {
		features int
		gone     bool
	}{{1000, false}, {240_000, true}} {
		value := `{"type":"transaction","id":"transaction-1","timestep":3,"features":[` +
			strings.Repeat("1e6,", c.features) + `1]}`
		rec := ingest.Record{Key: []byte("transaction-1"), Value: []byte(value)}
		found := Searcher{Bus: memoryLog{rec}, Clock: WallClock{}}.Run(t.Context(), &Search{
			prints: prints, scanner: scanner, secret: testSecret, locates: true, taken: map[int]int64{0: 1},
		})
		require.NoError(t, found.err)
		records := found.located.sources.tombstones[bus.Transactions]
		require.Len(t, records, 1)
		require.Equal(t, c.gone, records[0].Value == nil, c.features)
	}
}
