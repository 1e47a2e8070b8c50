package tables_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/lab/bench"
	"lethe/lab/paper"
	"lethe/lab/tables"
	"lethe/trainer/kernels"
)

// A table of more splits than are finished shows those that are, and says which.
func TestATableShowsTheSplitsThatAreFinished(t *testing.T) {
	if testing.Short() {
		t.Skip("trains many small models")
	}
	data, out := t.TempDir(), t.TempDir()
	writeCora(t, data)
	texts, _ := makeTables(t, data, out, "mlp")
	store, err := bench.OpenStore(out)
	require.NoError(t, err)
	defer store.Close()
	runner := &bench.Runner{
		Data: bench.NewData(data), Store: store, Kernels: kernels.Default(), OnlyFinished: true, Now: time.Now,
		Progress: func(bench.Progress) {},
	}
	published, err := paper.Load()
	require.NoError(t, err)
	mlp, err := tables.Named("mlp")
	require.NoError(t, err)
	opts := tables.Options{Splits: 2, Quick: true}
	results, err := runner.Run(t.Context(), mlp[0].Cells(opts))
	require.NoError(t, err)
	output, err := mlp[0].Render(opts, &tables.Results{Results: results, Paper: published})
	require.NoError(t, err)
	var text strings.Builder
	require.NoError(t, output.Markdown(&text, 2, "mlp"))
	first := regexp.MustCompile(`\| Cora +\| MLP .*`).FindString(texts["mlp"])
	require.Regexp(t, `\d\d\.\d`, first)
	require.Contains(t, text.String(), first)
	require.Contains(t, text.String(), "Cora: seeds [0] alone (MLP).")
	require.NotContains(t, texts["mlp"], "alone")
}
