package reasons

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/partition/onehop"
	"lethe/trainer"
)

// star is a snapshot of a transaction 0 that was paid by 1, paid 2 and did both with 3;
// 4 is behind 1 and 2, and 5 behind 3.
func star() Surroundings {
	s := &lethe.Snapshot{Timestep: 3, FeatureCount: 2, Features: make([]float32, 12)}
	for i := range 6 {
		s.Nodes = append(s.Nodes, lethe.SnapshotNode{
			Pseudonym: lethe.Pseudonym{byte(i)}, ID: lethe.TransactionID(rune('a' + i)),
		})
	}
	s.Payments = []lethe.Arc{
		{Source: 0, Target: 2}, {Source: 0, Target: 3}, {Source: 1, Target: 0}, {Source: 1, Target: 4},
		{Source: 2, Target: 4}, {Source: 3, Target: 0}, {Source: 3, Target: 5},
	}
	graph := trainer.InputOf(s)
	return Surroundings{Snapshot: s, Rows: []uint32{0, 1, 2, 3, 4, 5}, Neighbours: graph.Neighbours()}
}

func TestPaymentsHaveWhatIsBehindThem(t *testing.T) {
	// 4 can be reached through 1 and through 2, and counts half for each.
	require.Equal(t, []float64{10 + 2, 20 + 2, 40 + 8}, along(star().Neighbours, 0, []float64{0, 10, 20, 40, 4, 8}))
}

func TestPaymentsLoseNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "rows")
		in := trainer.Input{Rows: n}
		for b := 1; b < n; b++ { // connected
			in.Edges = append(in.Edges, lethe.Edge{A: uint32(rapid.IntRange(0, b-1).Draw(t, "a")), B: uint32(b)})
		}
		row := rapid.IntRange(0, n-1).Draw(t, "row")
		adds, want, got := make([]float64, n), 0.0, 0.0
		for i := range adds {
			if i != row {
				adds[i] = rapid.Float64Range(-5, 5).Draw(t, "adds")
			}
			want += adds[i]
		}
		for _, v := range along(in.Neighbours(), row, adds) {
			got += v
		}
		require.InDelta(t, want, got, 1e-9)
	})
}

func TestAComponentSaysTheLargestAndWhatIsLeft(t *testing.T) {
	x := Explainer{
		Top: 4, Names: []string{"amount"},
		Named: func(n lethe.SnapshotNode) bool { return n.ID != "d" },
	}
	a := &trainer.Attribution{
		Logit: 3, Base: -1, Shape: .25, Features: []float64{2, 0}, Rows: []float64{0, .5, -1, 2, .25, 0},
	}
	c := x.Component(a, star())
	first := 0
	require.Equal(t, []Reason{
		{Code: Feature, Feature: &first, Name: "amount", Contribution: 2},
		{Code: Payment, Transaction: "c", Direction: "out", Contribution: -.875},
		{Code: Payment, Transaction: "b", Direction: "in", Contribution: .625},
		{Code: Shape, Contribution: .25},
	}, c.Reasons)
	require.Equal(t, 2.0, c.Remainder) // the payments with d, which may not be named
	require.Equal(t, c.Logit, c.Sum())
	x.Top, x.Named = 1, func(lethe.SnapshotNode) bool { return true }
	c = x.Component(a, star())
	require.Len(t, c.Reasons, 1)
	require.Equal(t, c.Logit, c.Sum())
	x.Top = 9
	all := x.Component(a, star()).Reasons
	require.Equal(t, Reason{Code: Payment, Transaction: "d", Direction: "both", Contribution: 2}, all[1])
	require.Len(t, all, 5, "what adds nothing is no reason")
	require.Empty(t, x.Component(&trainer.Attribution{Features: []float64{0, 0}}, star()).Reasons)
}

// Every column of a row that has what is joined to it has a code.
func TestColumnsHaveCodes(t *testing.T) {
	said := func(mode onehop.Mode) string {
		var out []string
		for column := range mode.Features(2) {
			r := columnOf(column, 2, mode)
			text := string(r.Code)
			if r.Feature != nil {
				text += string(rune('0' + *r.Feature))
			}
			require.Equal(t, r.Code.ofFeature(), r.Feature != nil)
			out = append(out, text)
		}
		return strings.Join(out, " ")
	}
	require.Equal(t, "F0 F1", said(onehop.None))
	require.Equal(t, "F0 F1 FN0 FN1 N", said(onehop.Undirected))
	require.Equal(t, "F0 F1 FI0 FI1 FO0 FO1 NI NO", said(onehop.Directed))
	require.Equal(t, Payees, columnOf(1, 0, onehop.Directed).Code)
}

func TestRecordsAreReadAsTheyWereWritten(t *testing.T) {
	weight, feature := .5, 1
	r := &Record{
		Transaction: "t1", Timestep: 4, EnsembleVersion: lethe.Digest{7}, TrainedThrough: 3, Intercept: &weight,
		Components: []Component{{Model: "trees", Groups: 2, Weight: &weight, Logit: 1.5, Base: -.5, Remainder: .25,
			Reasons: []Reason{
				{Code: FeaturePayers, Feature: &feature, Name: "fee", Contribution: 1},
				{Code: Payment, Transaction: "t2", Direction: "in", Contribution: .75},
			}}},
	}
	data, err := r.Encode()
	require.NoError(t, err)
	got, err := Decode(data)
	require.NoError(t, err)
	require.Equal(t, r, got)
	for _, broken := range []string{
		"", "{}", strings.Replace(string(data), `"FI"`, `"Q"`, 1), strings.Replace(string(data), `"FI"`, `""`, 1),
		strings.Replace(string(data), `"feature":1,`, ``, 1), strings.Replace(string(data), `"t2"`, `""`, 1),
		strings.Replace(string(data), `"t1"`, `3`, 1), strings.Replace(string(data), `"code":"P",`, `"code":"S",`, 1),
	} {
		_, err := Decode([]byte(broken))
		require.ErrorIs(t, err, ErrRecord, broken)
		require.NotContains(t, err.Error(), "t2")
	}
	_, err = (&Record{}).Encode()
	require.ErrorIs(t, err, ErrRecord)
}

func TestNamesAreLines(t *testing.T) {
	names, err := ReadNames(strings.NewReader("amount\n\nfee, in BTC\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"amount", "", "fee, in BTC"}, names)
	for want, text := range map[string]string{
		"line 2: a name of 101 bytes, want at most 100":                 "a\n" + strings.Repeat("x", 101),
		"line 1: a name that is no UTF-8":                               "\xff",
		"line 65537: there are more names than features, at most 65536": strings.Repeat("a\n", 1<<16+1),
		"line 1: bufio.Scanner: token too long":                         strings.Repeat("x", 1<<17),
	} {
		_, err := ReadNames(strings.NewReader(text))
		require.EqualError(t, err, want)
	}
}
