package dataset_test

import (
	"context"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/dataset"
)

func streamGen(rt *rapid.T) *dataset.Stream {
	width := rapid.IntRange(1, 4).Draw(rt, "features")
	s := &dataset.Stream{Name: "random", FeatureCount: width}
	// Distinct in a stream and within it: a number, then letters of any kind.
	ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[0-9]{1,9}[a-zé_,"-]{0,3}`), 1, 20, rapid.ID).Draw(rt, "ids")
	value := rapid.Float32().Filter(func(v float32) bool { return !math.IsInf(float64(v), 0) && v == v })
	t := lethe.Timestep(0)
	for len(ids) > 0 {
		t += lethe.Timestep(rapid.IntRange(1, 1000).Draw(rt, "gap"))
		step := dataset.Step{Timestep: t}
		n := rapid.IntRange(1, len(ids)).Draw(rt, "transactions")
		for _, id := range ids[:n] {
			tx := lethe.Transaction{ID: lethe.TransactionID(id), Timestep: t}
			tx.Features = rapid.SliceOfN(value, width, width).Draw(rt, "row")
			step.Transactions = append(step.Transactions, tx)
			if l := lethe.Label(rapid.IntRange(0, 2).Draw(rt, "label")); l != lethe.Unknown {
				step.Labels = append(step.Labels, lethe.LabelRecord{ID: tx.ID, Timestep: t, Label: l})
			}
		}
		for i := range n {
			if j := rapid.IntRange(0, n-1).Draw(rt, "target"); i != j {
				step.Payments = append(step.Payments, lethe.Payment{
					Source: step.Transactions[i].ID, Target: step.Transactions[j].ID, Timestep: t,
				})
			}
		}
		s.Steps = append(s.Steps, step)
		ids = ids[n:]
	}
	return s
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		s := streamGen(rt)
		require.NoError(rt, dataset.WriteElliptic(dir, s, true))
		again, err := dataset.ReadElliptic(context.Background(), os.DirFS(dir), dataset.EllipticOptions{Name: s.Name})
		require.NoError(rt, err)
		require.Equal(rt, s, again)
	})
}

func TestWriteSparesWhatIsThere(t *testing.T) {
	s, err := dataset.ReadElliptic(context.Background(), caseFiles(""), dataset.EllipticOptions{Name: "tidy"})
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "new", "tidy")
	require.NoError(t, dataset.WriteElliptic(dir, s, false))
	for name, want := range map[string]string{
		dataset.FeaturesFile: "230000001,1,0.51515,-1.25\n230000002,1,0.75,2\n230000003,2,0,1\n230000004,2,0.25,-0.5\n",
		dataset.EdgesFile:    tidy()[dataset.EdgesFile],
		dataset.ClassesFile:  tidy()[dataset.ClassesFile],
	} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
	require.ErrorIs(t, dataset.WriteElliptic(dir, s, false), dataset.ErrNotEmpty)

	other := filepath.Join(dir, "notes.txt")
	require.NoError(t, os.WriteFile(other, []byte("mine"), 0o600))
	shorter, err := s.Slice(2, 2)
	require.NoError(t, err)
	require.NoError(t, dataset.WriteElliptic(dir, shorter, true))
	again, err := dataset.LoadElliptic(context.Background(), dir)
	require.NoError(t, err)
	require.Equal(t, shorter, again)
	require.FileExists(t, other)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 4, "nothing partial stays")
}

func TestSlice(t *testing.T) {
	s := &dataset.Stream{FeatureCount: 1}
	for _, at := range []lethe.Timestep{3, 4, 7} {
		s.Steps = append(s.Steps, dataset.Step{Timestep: at})
	}
	part, err := s.Slice(4, 7)
	require.NoError(t, err)
	require.Equal(t, s.Steps[1:], part.Steps)
	for _, c := range []struct {
		from, to lethe.Timestep
		want     string
	}{
		{5, 4, "timesteps 5-4: the first is after the last"},
		{2, 4, "timesteps 2-4: the data set holds 3-7"},
		{4, 8, "timesteps 4-8: the data set holds 3-7"},
		{5, 6, "timesteps 5-6: the data set holds 3-7, but none of these"},
	} {
		_, err := s.Slice(c.from, c.to)
		require.EqualError(t, err, c.want)
	}
	_, err = (&dataset.Stream{}).Slice(1, 2)
	require.EqualError(t, err, "timesteps 1-2: the data set holds no timestep")
}

func TestParseSteps(t *testing.T) {
	for text, want := range map[string][2]lethe.Timestep{"30-34": {30, 34}, "7": {7, 7}, "0-0": {0, 0}} {
		from, to, err := dataset.ParseSteps(text)
		require.NoError(t, err)
		require.Equal(t, want, [2]lethe.Timestep{from, to})
	}
	for _, text := range []string{"", "-", "1-", "-3", "a-b", "1-2-3", "5-4", "1.0-2", "99999999999999999999"} {
		_, _, err := dataset.ParseSteps(text)
		require.Error(t, err, text)
	}
}

// A folder is either refused or a stream of which every payment joins two of its
// transactions.
func FuzzReadElliptic(f *testing.F) {
	seed := tidy()
	f.Add(seed[dataset.FeaturesFile], seed[dataset.EdgesFile], seed[dataset.ClassesFile])
	f.Fuzz(func(t *testing.T, features, edges, classes string) {
		var fsys fs.FS = fstest.MapFS{
			dataset.FeaturesFile: {Data: []byte(features)}, dataset.EdgesFile: {Data: []byte(edges)},
			dataset.ClassesFile: {Data: []byte(classes)},
		}
		s, err := dataset.ReadElliptic(t.Context(), fsys, dataset.EllipticOptions{})
		if err != nil {
			return
		}
		if err := validate(s); err != nil {
			t.Fatal(err)
		}
	})
}
