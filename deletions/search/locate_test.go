package search

import (
	"context"
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

var testSecret = lethe.Secret{1, 2, 3, 4}

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
		require.Equal(t, c.found, len(Hits(scanner, rec)) > 0, c.value)
	}
}

// A batch in another partition than that of a target's key in normal form held nobody up, though the target's records
// may have a key in another spelling, which is in any partition.
func TestABatchThatNobodyCanReadHoldsUpOtherSpellings(t *testing.T) {
	const partitions = 64
	of := func(rule normalise.Rule, id lethe.TransactionID, partition int) bool {
		l := Located{unreadable: map[bus.Topic][]deletions.UnreadableBatch{bus.Labels: {{Partition: partition}}}}
		held, err := l.HeldUp([][]lethe.Target{lethe.Transactions(id)}, rule,
			func(bus.Topic) (int, error) { return partitions, nil })
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
			Prints: prints, Scanner: scanner, Secret: testSecret, Locates: true, Taken: map[int]int64{0: taken},
		}
		found := Searcher{Bus: log, Clock: wallClock{}}.Run(t.Context(), search)
		require.NoError(t, found.Err)
		for _, record := range found.Located.Sources.Tombstones[bus.Transactions] {
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
	found := Searcher{Bus: memoryLog{rec, without}, Clock: wallClock{}}.Run(t.Context(), &Search{
		Prints: prints, Scanner: scanner, Secret: testSecret, Locates: true, Taken: map[int]int64{0: 1},
	})
	require.NoError(t, found.Err)
	require.Equal(t, []ingest.Outgoing{{Key: []byte{}, Pinned: true}}, found.Located.Sources.Tombstones[bus.Transactions])
	require.Equal(t, []ingest.Outgoing{{Key: []byte{}, Pinned: true}}, found.Located.Letters.Tombstones[bus.DeadLetters])
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
		found := Searcher{Bus: memoryLog{rec}, Clock: wallClock{}}.Run(t.Context(), &Search{
			Prints: prints, Scanner: scanner, Secret: testSecret, Locates: true, Taken: map[int]int64{0: 1},
		})
		require.NoError(t, found.Err)
		records := found.Located.Sources.Tombstones[bus.Transactions]
		require.Len(t, records, 1)
		require.Equal(t, c.gone, records[0].Value == nil, c.features)
	}
}

// usedAgain is a log whose records are part of a buffer that is used again for the next segment.
type usedAgain struct{ memoryLog }

func (l usedAgain) EachSegment(_ context.Context, _ bus.Topic, fn func(Segment) error) error {
	var parts [][]byte
	err := fn(Segment{Records: func(take func(ingest.Record) error) error {
		return l.each(func(rec ingest.Record) error {
			rec = rec.Clone()
			parts = append(parts, rec.Key, rec.Value, rec.Headers[0].Value, rec.Headers[1].Value)
			return take(rec)
		})
	}})
	for _, part := range parts {
		for i := range part {
			part[i] = '#'
		}
	}
	return err
}

// A record of another one that names a target in a header is published again without the header. On the embedded broker
// it was published with the bytes of another record, those that the buffer held by then, and so were headers of dead
// letters.
func TestLocate_RecordNamesATargetInAHeader_IsReplacedByItself(t *testing.T) {
	prints, err := scan.IDFingerprints(testSecret, "transaction-1")
	require.NoError(t, err)
	scanner, err := scan.NewScanner(testSecret, prints)
	require.NoError(t, err)
	log := usedAgain{memoryLog{{
		Key: []byte("transaction-2"), Value: []byte(`{"note":2}`),
		Headers: []ingest.Header{{Key: "ref", Value: []byte("transaction-1")}, {Key: "trace", Value: []byte("7")}},
	}}}
	found := Searcher{Bus: log, Log: log, Clock: wallClock{}}.Run(t.Context(), &Search{
		Prints: prints, Scanner: scanner, Secret: testSecret, Locates: true, Taken: map[int]int64{0: 1},
	})
	require.NoError(t, found.Err)
	records := found.Located.Sources.Tombstones[bus.Transactions]
	require.Len(t, records, 1)
	again := records[0]
	require.Equal(t, []string{"transaction-2", `{"note":2}`, "trace", "7"},
		[]string{string(again.Key), string(again.Value), again.Headers[0].Key, string(again.Headers[0].Value)})
}
