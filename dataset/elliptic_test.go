package dataset_test

import (
	"context"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/dataset"
)

// tidy is a small data set without fault. A case of the transcript replaces
// some of its files.
func tidy() map[string]string {
	return map[string]string{
		dataset.FeaturesFile: "230000001,1,0.51515,-1.25\n230000002,1,7.5e-1,2\n230000003,2.0,0,1\n230000004,2,0.25,-0.5\n",
		dataset.EdgesFile:    "txId1,txId2\n230000001,230000002\n230000004,230000003\n",
		dataset.ClassesFile:  "txId,class\n230000001,1\n230000002,unknown\n230000003,2\n230000004,unknown\n",
	}
}

// marks stand for bytes that a transcript cannot show.
func marks() *strings.Replacer {
	return strings.NewReplacer(`\r`, "\r", `\0`, "\x00", `\bom`, "\xef\xbb\xbf", `\xff`, "\xff", `\xfe`, "\xfe",
		"<cut>\n", "", "<empty>\n", "", "<blank>\n", "\n", "<long>", strings.Repeat("1", 1<<20))
}

// caseFiles reads "-- name" sections over the tidy files. "-- name missing"
// takes a file away.
func caseFiles(input string) fs.FS {
	files := tidy()
	for section := range strings.SplitSeq("\n"+input, "\n-- ") {
		head, body, _ := strings.Cut(strings.TrimPrefix(section, "\n"), "\n")
		name, missing, _ := strings.Cut(head, " ")
		if missing == "missing" {
			delete(files, name)
		} else if name != "" {
			files[name] = marks().Replace(body + "\n")
		}
	}
	out := fstest.MapFS{}
	for name, content := range files {
		out[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return out
}

func describe(s *dataset.Stream) string {
	var b strings.Builder
	for _, step := range s.Steps {
		total := step.Totals()
		fmt.Fprintf(&b, "timestep %d: %d transactions of %d features, %d payments, illicit/licit/unknown %d/%d/%d\n",
			step.Timestep, total.Transactions, s.FeatureCount, total.Payments,
			total.Labels[lethe.Illicit], total.Labels[lethe.Licit], total.Labels[lethe.Unknown])
	}
	if s.Repeated > 0 {
		fmt.Fprintf(&b, "%d rows repeat a payment\n", s.Repeated)
	}
	return b.String()
}

func TestEllipticTranscript(t *testing.T) {
	personal := regexp.MustCompile(`2300000|51515|-1\.25|[0-9]{9}`)
	datadriven.RunTest(t, "testdata/elliptic", func(t *testing.T, d *datadriven.TestData) string {
		opts := dataset.EllipticOptions{Name: "case", Lenient: d.HasArg("lenient")}
		if d.HasArg("bounds") {
			opts.Bounds = dataset.Bounds{Magnitude: 100, Features: 3, First: 1, Jump: 10}
		}
		s, err := dataset.ReadElliptic(context.Background(), caseFiles(d.Input), opts)
		if err != nil {
			require.NotRegexp(t, personal, err.Error(), "an error must not repeat ids or values")
			if strings.Contains(err.Error(), "is missing") {
				require.ErrorIs(t, err, dataset.ErrNotDataset)
			} else {
				require.ErrorIs(t, err, dataset.ErrMalformed)
			}
			return err.Error()
		}
		require.NoError(t, validUnlessLenient(s, opts.Lenient))
		return describe(s)
	})
}

func validUnlessLenient(s *dataset.Stream, lenient bool) error {
	if lenient {
		return nil
	}
	return validate(s)
}

func TestEllipticContent(t *testing.T) {
	s, err := dataset.ReadElliptic(context.Background(), caseFiles(""), dataset.EllipticOptions{Name: "tidy"})
	require.NoError(t, err)
	require.Equal(t, &dataset.Stream{Name: "tidy", FeatureCount: 2, Steps: []dataset.Step{
		{
			Timestep: 1,
			Transactions: []lethe.Transaction{
				{ID: "230000001", Timestep: 1, Features: []float32{0.51515, -1.25}},
				{ID: "230000002", Timestep: 1, Features: []float32{0.75, 2}},
			},
			Payments: []lethe.Payment{{Source: "230000001", Target: "230000002", Timestep: 1}},
			Labels:   []lethe.LabelRecord{{ID: "230000001", Timestep: 1, Label: lethe.Illicit}},
		},
		{
			Timestep: 2,
			Transactions: []lethe.Transaction{
				{ID: "230000003", Timestep: 2, Features: []float32{0, 1}},
				{ID: "230000004", Timestep: 2, Features: []float32{0.25, -0.5}},
			},
			Payments: []lethe.Payment{{Source: "230000004", Target: "230000003", Timestep: 2}},
			Labels:   []lethe.LabelRecord{{ID: "230000003", Timestep: 2, Label: lethe.Licit}},
		},
	}}, s)
}

// Every file cut at every byte has to be refused, or the loss would be trained
// on. Only the edges may lose whole rows unseen: nothing says how many there
// are.
func TestEveryCutIsRefused(t *testing.T) {
	for name, content := range tidy() {
		for n := range len(content) {
			files := fstest.MapFS{}
			for other, whole := range tidy() {
				files[other] = &fstest.MapFile{Data: []byte(whole)}
			}
			files[name] = &fstest.MapFile{Data: []byte(content[:n])}
			_, err := dataset.ReadElliptic(context.Background(), files, dataset.EllipticOptions{})
			if name == dataset.EdgesFile && n > 0 && content[n-1] == '\n' {
				require.NoError(t, err)
				continue
			}
			require.ErrorIs(t, err, dataset.ErrMalformed, "%s cut to %d bytes", name, n)
		}
	}
}

func TestLoadStopsWithItsContext(t *testing.T) {
	var features strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&features, "%d,1,0\n", 230000000+i)
	}
	files := fstest.MapFS{dataset.FeaturesFile: {Data: []byte(features.String())}}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := dataset.ReadElliptic(ctx, files, dataset.EllipticOptions{})
	require.ErrorIs(t, err, context.Canceled)
}
