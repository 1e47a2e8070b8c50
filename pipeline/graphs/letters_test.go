package graphs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/ingest/ingesttest"
	"lethe/internal/realdata"
	"lethe/pipeline/role"
	"lethe/snapshot"
)

// Dead letters carry the snapshot store's reasons, which has no list of them, as they are.
func TestReasonsOfTheStoreAreKnown(t *testing.T) {
	path := filepath.Join(realdata.Repository(t), "snapshot", "record.go")
	parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	var found []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		constant, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(constant.Names[0].Name, "Reason") {
			return true
		}
		require.Len(t, constant.Values, 1, constant.Names[0].Name)
		reason, err := strconv.Unquote(constant.Values[0].(*ast.BasicLit).Value)
		require.NoError(t, err)
		require.True(t, ingest.Reason(reason).Known(), "%s is %q", constant.Names[0].Name, reason)
		found = append(found, reason)
		return false
	})
	require.Contains(t, found, snapshot.ReasonUnknownTransaction)
	require.Len(t, found, 10)
}

// A payment and a label that wait for a transaction are taken once it has come, and their
// letters withdrawn. Those of records with the same keys that were refused for good stay.
func TestAWithdrawnLetterLeavesThoseRefusedForGood(t *testing.T) {
	d := deploy(t)
	d.window = time.Millisecond
	r, _ := d.run(t.TempDir())
	known, late := transactionID(1, 0), lethe.TransactionID("late")
	payment, label := string(ingest.PaymentKey(known, late)), string(late)
	send := func(topic bus.Topic, key, value []byte, err error) {
		require.NoError(t, err)
		d.send(topic, ingest.Outgoing{Key: key, Value: value})
	}
	sendAt := func(at lethe.Timestep) {
		key, value, err := ingest.EncodePayment(lethe.Payment{Source: known, Target: late, Timestep: at})
		send(bus.Transactions, key, value, err)
		key, value, err = ingest.EncodeLabel(lethe.LabelRecord{ID: late, Timestep: at, Label: lethe.Illicit})
		send(bus.Labels, key, value, err)
	}
	const tooFar = 1 << 20
	sendAt(tooFar)
	sendAt(1)
	d.fill(1)
	d.settle(1)
	d.until(r, "timestep 1 settles", func(s *role.Status) bool { return s.Count(lethe.Settled) == 1 })
	require.Equal(t, map[string][]string{
		payment: {"timestep_jump", "unknown_endpoint"}, label: {"timestep_jump", "unknown_transaction"},
	}, d.letterReasons())

	key, value, err := ingest.EncodeTransaction(lethe.Transaction{ID: late, Timestep: 1, Features: []float32{1, 2, 3}})
	send(bus.Transactions, key, value, err)
	d.until(r, "it joins", func(s *role.Status) bool { return s.Transactions() == 8 && s.Steps[1].State == lethe.Settled })
	require.Equal(t, map[string][]string{payment: {"timestep_jump"}, label: {"timestep_jump"}}, d.letterReasons())
}

// letterReasons are the reasons of the dead letters that compaction leaves, by the key of
// the record that was refused.
func (d *deployment) letterReasons() map[string][]string {
	d.Helper()
	newest := make(map[string]ingest.Record)
	require.NoError(d, d.topics.ReadAll(d.Context(), bus.DeadLetters, func(rec ingest.Record) error {
		if _, _, is := ingest.ReadMark(rec); !is {
			newest[string(rec.Key)] = rec
		}
		return nil
	}))
	out := make(map[string][]string)
	for _, key := range slices.Sorted(maps.Keys(newest)) {
		if newest[key].Tombstone() {
			continue
		}
		letter, err := ingesttest.ParseDeadLetter(newest[key])
		require.NoError(d, err)
		original := string(letter.Record.Key)
		out[original] = append(out[original], string(letter.Refusal.Reason))
	}
	for _, reasons := range out {
		slices.Sort(reasons)
	}
	return out
}

// Who takes over has the dead letters of what waits become those of its own store: whoever led before may
// have withdrawn one that is due here, or left one of a record that is in a graph here.
func TestWhoTakesOverSaysWhatWaitsHere(t *testing.T) {
	d := deploy(t)
	dir := t.TempDir()
	r, stop := d.run(dir)
	key, value, err := ingest.EncodeLabel(lethe.LabelRecord{ID: "nobody", Timestep: 1, Label: lethe.Licit})
	require.NoError(t, err)
	d.send(bus.Labels, ingest.Outgoing{Key: key, Value: value})
	d.fill(1)
	d.settle(1)
	d.fill(2)
	d.until(r, "two steps", twoSteps)
	require.Eventually(t, func() bool { return len(d.letterReasons()) == 1 }, time.Minute, time.Millisecond)
	stop()

	var letters []ingest.Record
	require.NoError(t, d.topics.ReadAll(t.Context(), bus.DeadLetters, func(rec ingest.Record) error {
		letters = append(letters, rec)
		return nil
	}))
	require.Len(t, letters, 1)
	stale := letters[0]
	stale.Key = []byte(strings.ReplaceAll(string(stale.Key), "nobody", "somebody"))
	other := letters[0]
	other.Headers = slices.Clone(other.Headers)
	for i, h := range other.Headers {
		if h.Key == "lethe.dlq.detail" {
			other.Headers[i].Value = []byte("of another timestep")
		}
	}
	tombstone := ingest.Record{Topic: string(bus.DeadLetters), Key: letters[0].Key}

	store, err := openSnapshots(t.Context(), d.options(dir).agreed())
	require.NoError(t, err)
	defer store.Close()
	for name, c := range map[string]struct {
		heard     []ingest.Record
		withdrawn []bool
	}{
		"the same":             {letters, nil},
		"nothing":              {nil, []bool{false}},
		"withdrawn":            {append(slices.Clone(letters), tombstone), []bool{false}},
		"another reason":       {[]ingest.Record{other}, []bool{false}},
		"one of another store": {append(slices.Clone(letters), stale), []bool{true}},
	} {
		heard, topics := Heard{letters: make(map[string]letterSaid)}, deploy(t)
		heard.noteLetters(c.heard)
		// It has heard of one that is gone, and has not heard that.
		heard.letters["gone"] = letterSaid{of: snapshot.Origin{Topic: string(bus.Transactions), Key: []byte("gone")}}
		for _, rec := range c.heard {
			topics.send(bus.DeadLetters, ingest.Outgoing{Key: rec.Key, Value: rec.Value, Headers: rec.Headers})
		}
		require.NoError(t, heard.sayLetters(t.Context(), topics.topics, store), name)
		due, err := store.Letters()
		require.NoError(t, err, name)
		var withdrawn []bool
		for _, letter := range due {
			withdrawn = append(withdrawn, letter.Withdrawn)
			if letter.Withdrawn {
				require.Equal(t, stale.Key, ingest.WithdrawnLetter(recordOf(letter.Origin)).Key, name)
			} else {
				require.Equal(t, "nobody", string(letter.Origin.Key), name)
			}
		}
		require.Equal(t, c.withdrawn, withdrawn, name)
		require.NoError(t, store.ConfirmLetters(len(due)))
	}
}
