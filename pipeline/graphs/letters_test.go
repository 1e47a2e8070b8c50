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
