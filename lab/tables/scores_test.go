package tables

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/lab/paper"
	"lethe/lab/report"
)

// A score divides by how far Scratch is ahead of Random: over next to nothing it
// would be noise with a decimal point.
func TestNoScoreOverASmallGap(t *testing.T) {
	published, err := paper.Load()
	require.NoError(t, err)
	s := newScores("inductive")
	for dataset, ahead := range map[string]float64{"far": 0.1, "near": 0.03} {
		for name, test := range map[string]float64{random: 0.7, scratch: 0.7 + ahead, own: 0.75} {
			s.add(dataset, name, accuracy{test: report.Sample{test}, shards: report.Sample{1}})
		}
	}
	var table report.Table
	s.rows(&table, published)
	at := 2
	for i, how := range methods() {
		if how.name == own {
			at += i
		}
	}
	got := map[string]string{}
	for _, row := range table.Rows {
		got[row[0]] = row[at]
	}
	require.Equal(t, "50.0", got["far"])
	require.Equal(t, report.Missing, got["near"])
}
