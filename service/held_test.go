package service_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/residue"
	"lethe/service/servicetest"
)

// idForms are the forms of an id that no transaction of the stream has.
func idForms(ids ...lethe.TransactionID) (out []residue.Form) {
	for _, id := range ids {
		out = append(out, residue.Form{Name: "id", Bytes: []byte(id)}, residue.Form{Name: "id in JSON", Text: string(id)})
	}
	return out
}

// Whatever is held of an id is found and erased, though no graph has it: in dead
// letters, as the other end of a payment, with a label, in an open timestep, in one that
// is closing. Every target has an outcome, also one that nobody knows and one that is
// named twice.
func TestEveryPlaceThatHoldsATargetIsLookedAt(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 5, 40, 21)
	c := servicetest.SmallConfig(t, t.TempDir())
	s := lifecycle(t, c, stream)
	here := servicetest.Step(stream, 5).Transactions
	features := here[0].Features
	send(s, bus.Transactions)([]byte("held-by-letters"),
		[]byte(`{"type":"transaction","id":"held-by-letters","timestep":5,"features":[1]}`), nil)
	sendPayment(s, here[0].ID, "held-as-payee", 5)
	sendPayment(s, "held-as-payer", here[1].ID, 5)
	send(s, bus.Labels)(ingest.EncodeLabel(lethe.LabelRecord{ID: "held-by-label", Timestep: 5, Label: lethe.Licit}))
	sendTransaction(s, lethe.Transaction{ID: "held-open", Timestep: 5, Features: features})
	settled, closed := servicetest.LabelledIllicit(stream, 2)[0], servicetest.Step(stream, 4).Transactions[0].ID
	s.Quiet()
	asked := []lethe.TransactionID{
		"held-by-letters", "held-nowhere", "held-as-payee", "held-as-payer", "held-by-label", "held-open", settled, closed,
		"held-nowhere", "held-open",
	}
	require.NotEmpty(t, servicetest.Left(t, c.DataDir, idForms("held-as-payee")))
	require.Equal(t, deletions.Verified, s.Erase("everywhere", lethe.ScopeStubs, asked...))
	want := slices.Repeat([]deletions.Outcome{deletions.OutcomeErased}, len(asked))
	want[1], want[8] = deletions.OutcomeNothingHeld, deletions.OutcomeNothingHeld
	require.Equal(t, want, outcomes(s, "everywhere"))
	requireClean(s, c.DataDir, idForms(asked...))

	// In the timestep that is closing while the request comes.
	sendPayment(s, here[2].ID, "held-closing", 5)
	endTimestep(s, bus.Transactions, 5, ingest.EncodeClose)
	require.Equal(t, deletions.Verified, s.Erase("closing", lethe.ScopeStubs, "held-closing"))
	require.Equal(t, []deletions.Outcome{deletions.OutcomeErased}, outcomes(s, "closing"))
	requireClean(s, c.DataDir, idForms("held-closing"))

	// What was held nowhere is suppressed, and nothing of the others returns.
	sendTransaction(s, lethe.Transaction{ID: "held-nowhere", Timestep: 5, Features: features})
	sendPayment(s, "held-as-payer", here[1].ID, 5)
	s.Quiet()
	requireClean(s, c.DataDir, idForms(append(asked, "held-closing")...))
	finish(s, stream)
	s.Stop()
	require.Empty(t, servicetest.Left(t, c.DataDir, idForms(append(asked, "held-closing")...)))
}

func sendPayment(r *running, source, target lethe.TransactionID, at lethe.Timestep) {
	r.T.Helper()
	send(r, bus.Transactions)(ingest.EncodePayment(lethe.Payment{Source: source, Target: target, Timestep: at}))
}

// Dead letters are found by what they say, in any legal spelling of JSON and as far
// as a broken one can be read; those of others stay.
func TestDeadLettersAreFoundByWhatTheySay(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 5, 40, 22)
	c := servicetest.SmallConfig(t, t.TempDir())
	s := lifecycle(t, c, stream)
	features := []float32{1, 2.5, -3, 0.125, 100, 7, 8, 9, 10, 11, 12, 1e-7}
	ids := []lethe.TransactionID{"café-1", "tx/2024/1", "smile-😀-9", "ab"}
	for i, id := range ids {
		row := slices.Clone(features)
		row[0] += float32(i)
		sendTransaction(s, lethe.Transaction{ID: id, Timestep: 5, Features: row})
	}
	spelled := []string{`caf\u00e9-1`, `tx\/2024\/1`, `smile-\uD83D\ude00-9`, `\u0061b`}
	row := spelledRow(features)
	var letters []ingest.Outgoing
	letter := func(format string, args ...any) {
		key := fmt.Sprintf("letter-%d", len(letters))
		letters = append(letters, ingest.Outgoing{Key: []byte(key), Value: fmt.Appendf(nil, format, args...)})
	}
	for _, id := range spelled {
		letter(`{"type":"transaction","id":"%s","timestep":5,"features":[1]}`, id)
		letter(`{"type" : "transaction", "id" : "%s"}`, id)
		letter(`{"type":"payment","deep":[[{"er":["%s>other"]}]]}`, id)
		letter(`{"%s":1}`, id)
		letter(`{"text":"{\"id\":\"%s\"}"}`, strings.ReplaceAll(id, `\`, `\\`))
		letter(`{"type":"transaction","id":"%s","features":[1,2`, id)
		letter(`type":"transaction","id":"%s`, id)
		letters = append(letters,
			ingest.Outgoing{Key: []byte(`"` + id + `"`), Value: []byte(`{}`)},
			ingest.Outgoing{Key: []byte("headed-" + strconv.Itoa(len(letters))), Value: []byte(`{}`),
				Headers: []ingest.Header{{Key: "ref", Value: []byte(`{"id":"` + id + `"}`)}}})
	}
	letter(`{"type":"transaction","features":[%s]}`, row)
	letter(`{"type":"transaction","x":{"f":[%s]}}`, row)
	letter(`{"type":"transaction","features":[%s`, row)
	named := len(letters)
	letter(`{"type":"transaction","id":"innocent","timestep":5,"features":[1]}`)
	letter(`{"type":"transaction","features":[%s,1]}`, row)
	letter(`{"id":"caf\u00e9-12"}`)
	require.NoError(t, s.Client().Write(t.Context(), bus.Transactions, letters))
	s.Quiet()
	require.Len(t, s.Newest(bus.DeadLetters), len(letters))
	forms := append(idForms(ids[:3]...), residue.Form{Name: "id in JSON", Text: "ab"},
		residue.Form{Name: "features in JSON", Row: features})
	require.NotEmpty(t, servicetest.Left(t, c.DataDir, forms))

	require.Equal(t, deletions.Verified, s.Erase("spelled", lethe.ScopeStubs, ids...))
	require.Len(t, s.Newest(bus.DeadLetters), len(letters)-named, "those of others stay")
	requireClean(s, c.DataDir, forms)

	// They do not return as dead letters either.
	require.NoError(t, s.Client().Write(t.Context(), bus.Transactions, letters[:named]))
	s.Quiet()
	require.Len(t, s.Newest(bus.DeadLetters), len(letters)-named)
	requireClean(s, c.DataDir, forms)
}

// spelledRow writes features in several of JSON's spellings.
func spelledRow(features []float32) string {
	var numbers []string
	for i, v := range features {
		numbers = append(numbers, strconv.FormatFloat(float64(v), "eEgf"[i%4], -1, 32))
	}
	numbers[1], numbers[2], numbers[4] = "2.500", "-3e0", "1.00E+2"
	return strings.Join(numbers, " , ")
}
