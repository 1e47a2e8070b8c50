package tables_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sbinet/npyio/npz"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/dataset"
	"lethe/internal/cputime"
	"lethe/lab/bench"
	"lethe/lab/paper"
	"lethe/lab/tables"
	"lethe/trainer/kernels"
)

// writeCora writes a small graph of three classes under the name of Cora: nodes
// cite their own class and use its words.
func writeCora(t *testing.T, dir string) {
	t.Helper()
	const nodes, classes, words = 90, 3, 9
	draw := lethe.NewDraw(1, "small-cora")
	w, err := npz.Create(filepath.Join(dir, "cora.npz"))
	require.NoError(t, err)
	var labels, start, cited []int64
	var features []float32
	start = append(start, 0)
	for i := range nodes {
		labels = append(labels, int64(i%classes))
		for range 3 {
			cited = append(cited, int64(draw.IntN(nodes/classes)*classes+i%classes))
		}
		start = append(start, int64(len(cited)))
		for word := range words {
			v := float32(0)
			if word%classes == i%classes || draw.Float64() < .2 {
				v = 1
			}
			features = append(features, v)
		}
	}
	require.NoError(t, errors.Join(
		w.Write("adj_indptr", start), w.Write("adj_indices", cited), w.Write("labels", labels),
		writeMatrix(w, features, words), w.Close(),
	))
}

// writeMatrix writes the features by rows; every entry is stored.
func writeMatrix(w *npz.Writer, values []float32, columns int) error {
	start, index := []int64{0}, []int64(nil)
	for i := range values {
		index = append(index, int64(i%columns))
		if i%columns == columns-1 {
			start = append(start, int64(i+1))
		}
	}
	return errors.Join(
		w.Write("attr_indptr", start), w.Write("attr_indices", index), w.Write("attr_data", values),
		w.Write("attr_shape", []int64{int64(len(values) / columns), int64(columns)}),
	)
}

// writeOTC writes a generated stream of 49 timesteps under the name of
// Bitcoin-OTC.
func writeOTC(t *testing.T, dir string) {
	t.Helper()
	options := dataset.GenerateDefaults()
	options.Steps, options.NodesPerStep, options.Seed = 49, 30, 1
	s, err := dataset.Generate(options)
	require.NoError(t, err)
	require.NoError(t, dataset.WriteElliptic(filepath.Join(dir, "bitcoin-otc", "elliptic-format"), s,
		false))
}

// make runs tables and returns their Markdown and how many cells were measured.
func makeTables(t *testing.T, data, out string, names ...string) (texts map[string]string, measured int) {
	t.Helper()
	store, err := bench.OpenStore(out)
	require.NoError(t, err)
	defer store.Close()
	opts := tables.Options{Splits: 1, Quick: true}
	runner := &bench.Runner{
		Data: bench.NewData(data), Store: store, Kernels: kernels.Default(), Workers: 2, Now: time.Now, Used: cputime.Used,
		Progress: func(p bench.Progress) { measured = p.Done - p.Kept },
	}
	published, err := paper.Load()
	require.NoError(t, err)
	texts = make(map[string]string)
	for _, name := range names {
		chosen, err := tables.Named(name)
		require.NoError(t, err)
		results, err := runner.Run(t.Context(), chosen[0].Cells(opts))
		require.NoError(t, err)
		output, err := chosen[0].Render(opts, &tables.Results{Results: results, Paper: published})
		require.NoError(t, err)
		files, err := output.Write(out, name)
		require.NoError(t, err)
		for _, file := range files {
			info, err := os.Stat(file)
			require.NoError(t, err)
			require.Positive(t, info.Size(), file)
		}
		text, err := os.ReadFile(filepath.Join(out, name+".md"))
		require.NoError(t, err)
		texts[name] = string(text)
	}
	return texts, measured
}

func TestQuickTablesOnSmallData(t *testing.T) {
	if testing.Short() {
		t.Skip("trains many small models")
	}
	data, out := t.TempDir(), t.TempDir()
	writeCora(t, data)
	names := []string{"mlp", "labels", "elliptic", "partition-times", "partition-scores", "shard-sizes", "unlearning",
		"membership-graphs"}
	texts, _ := makeTables(t, data, out, names...)
	require.Contains(t, texts["mlp"], "(87.5)", "the paper's Scratch stands beside")
	require.Contains(t, texts["mlp"], "normalised score")
	require.Regexp(t, `\| Cora +\| SAGE +\| 1 +(\| \d+\.\d +){7}\|`, texts["labels"], "every column, labels alone too")
	require.Contains(t, texts["unlearning"], "stubs")
	require.Regexp(t, `\| Cora +\| SAGE +\| lethe +\| stubs +\| 1 +(\| \d+\.\d +){3}\|`, texts["membership-graphs"])
	require.Regexp(t, `\| Scratch .* \| 1\.00 +\|`, texts["unlearning"], "beside itself")
	require.Contains(t, texts["elliptic"], "not run: file bitcoin-otc/elliptic-format/elliptic_txs_features.csv")
	for name, text := range texts {
		require.NotContains(t, text, "NaN", name)
	}
	require.FileExists(t, filepath.Join(out, "partition-scores-cora.svg"))
	require.FileExists(t, filepath.Join(out, "partition-scores-cora.png"))

	again, measured := makeTables(t, data, out, names...)
	require.Equal(t, texts, again, "finished cells give the same tables")
	require.Zero(t, measured, "nothing is measured twice")
}

func TestFraudTableOnAGeneratedStream(t *testing.T) {
	if testing.Short() {
		t.Skip("trains many small models")
	}
	data, out := t.TempDir(), t.TempDir()
	writeOTC(t, data)
	texts, _ := makeTables(t, data, out, "elliptic")
	require.Contains(t, texts["elliptic"], "GUIDE-Fast")
	require.Regexp(t, `\| lethe +\| logistic +\| directed +\| window +\| 0\.\d`, texts["elliptic"])
	for _, picture := range []string{"macro-f1", "auc", "own-macro-f1", "own-auc"} {
		require.Contains(t, texts["elliptic"], "elliptic-bitcoin-otc-"+picture+".svg")
	}
}

func TestEveryTableNamesWhatIsMissing(t *testing.T) {
	data, out := t.TempDir(), t.TempDir()
	for _, table := range tables.All() {
		texts, measured := makeTables(t, data, out, table.Name)
		require.Zero(t, measured, table.Name)
		require.Contains(t, texts[table.Name], "not run: file ", table.Name)
		for line := range strings.Lines(texts[table.Name]) {
			// No figure of ours: what is left are the paper's, in brackets.
			if cells := strings.Split(line, "|"); len(cells) > 3 && !strings.Contains(line, "(") &&
				!strings.Contains(line, "--") {
				require.NotRegexp(t, `\d\.\d`, strings.Join(cells[3:], "|"), table.Name)
			}
		}
	}
}

func TestTablesByName(t *testing.T) {
	all, err := tables.Named("all")
	require.NoError(t, err)
	names := make(map[string]bool)
	for _, table := range all {
		require.False(t, names[table.Name], table.Name)
		names[table.Name] = true
		require.NotEmpty(t, table.Cells(tables.Options{Splits: 2}))
	}
	_, err = tables.Named("nonsense")
	require.EqualError(t, err, `there is no table "nonsense"`)
}
