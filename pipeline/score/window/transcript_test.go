package window

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"lethe"
)

var secret = lethe.Secret{3}

// transcript drives a window. Times are seconds, numbered by the commands.
type transcript struct {
	t      *testing.T
	window *Window
	now    int64
	pass   *Pass
}

// The window as a transcript: what arrives, who is scored then and among whom.
// Probabilities are numbered by the passes.
func TestTranscript(t *testing.T) {
	tr := &transcript{window: New(secret, Bounds{Places: 12, First: 1, Jump: 10})}
	datadriven.RunTest(t, "testdata/window", func(t *testing.T, d *datadriven.TestData) string {
		tr.t, tr.now = t, tr.now+1
		return tr.do(d)
	})
}

func (tr *transcript) do(d *datadriven.TestData) string {
	switch d.Cmd {
	case "width":
		tr.window.SetWidth(tr.number(d, "features"))
	case "arrive":
		for line := range strings.Lines(d.Input) {
			tr.arrive(strings.TrimSpace(line))
		}
	case "close":
		return tr.close(d)
	case "suppress":
		tr.window.Suppress([]lethe.Digest{secret.Suppression(lethe.TransactionID(d.CmdArgs[0].Key))})
	case "take":
		if tr.pass = tr.window.Next(tr.number(d, "most"), d.HasArg("again")); tr.pass == nil {
			return "nobody waits"
		}
		return tr.describe()
	case "score":
		return tr.score()
	default:
		require.Fail(tr.t, "unknown command", d.Cmd)
	}
	return fmt.Sprintf("%d places", tr.window.Len())
}

// close closes a timestep, with a graph of the transactions that are listed.
func (tr *transcript) close(d *datadriven.TestData) string {
	var graph []lethe.Pseudonym
	for _, id := range strings.Fields(d.Input) {
		graph = append(graph, secret.Pseudonym(lethe.TransactionID(id)))
	}
	refused := tr.window.Close(lethe.Timestep(tr.number(d, "timestep")), graph)
	return fmt.Sprintf("%d places, refused %v", tr.window.Len(), refused)
}

func (tr *transcript) number(d *datadriven.TestData, key string) (n int) {
	d.ScanArgs(tr.t, key, &n)
	return n
}

// arrive reads "timestep id features" or "timestep payer>payee".
func (tr *transcript) arrive(line string) {
	var t lethe.Timestep
	var rest string
	_, err := fmt.Sscan(line, &t, &rest)
	require.NoError(tr.t, err)
	if source, target, ok := strings.Cut(rest, ">"); ok {
		tr.window.Payment(lethe.Payment{
			Timestep: t, Source: lethe.TransactionID(source), Target: lethe.TransactionID(target),
		}, time.Unix(tr.now, 0))
		return
	}
	var features []float32
	for _, f := range strings.Fields(line)[2:] {
		var v float32
		_, err := fmt.Sscan(f, &v)
		require.NoError(tr.t, err)
		features = append(features, v)
	}
	tr.window.Transaction(lethe.Transaction{
		Timestep: t, ID: lethe.TransactionID(rest), Features: features,
	}, time.Unix(tr.now, 0))
}

// describe tells of the pass by name, for the order of pseudonyms tells nothing.
func (tr *transcript) describe() string {
	s := tr.pass.Graph
	require.NoError(tr.t, s.Validate())
	name := func(i uint32) string { return string(s.Nodes[i].ID) }
	var scored, among, rows, payments []string
	for _, at := range tr.pass.Scored {
		scored = append(scored, name(uint32(tr.pass.Among[at])))
	}
	for _, at := range tr.pass.Among {
		among = append(among, name(uint32(at)))
	}
	for i := range s.Nodes {
		rows = append(rows, fmt.Sprint(name(uint32(i)), s.Row(i)))
	}
	for _, p := range s.Payments {
		payments = append(payments, name(p.Source)+">"+name(p.Target))
	}
	for _, list := range [][]string{scored, among, rows, payments} {
		slices.Sort(list)
	}
	who := "first"
	if tr.pass.Again {
		who = "again"
	}
	return fmt.Sprintf("timestep %d, %s: %v among %v\nrows %v\npayments %v",
		s.Timestep, who, scored, among, rows, payments)
}

// score gives all of the pass a probability.
func (tr *transcript) score() string {
	probabilities := make([]float64, len(tr.pass.Scored))
	for i := range probabilities {
		probabilities[i] = float64(tr.now) / 100
	}
	var out []string
	for _, s := range tr.window.Score(tr.pass, probabilities) {
		line := fmt.Sprintf("%s %.2f", s.ID, s.Probability)
		if !s.Since.IsZero() {
			line += fmt.Sprintf(" waited since %d", s.Since.Unix())
		}
		out = append(out, line)
	}
	slices.Sort(out)
	out = append(out, fmt.Sprint("all ", tr.window.Probabilities(tr.pass.Graph.Timestep)))
	return strings.Join(out, "\n")
}
