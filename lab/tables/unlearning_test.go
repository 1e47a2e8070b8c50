package tables

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/lab/report"
)

// The page says from which batch on forgetting takes longer than training one
// model on everything, and nothing where it never does.
func TestUnlearningSaysWhenItCostsMoreThanTrainingAnew(t *testing.T) {
	dear := dearFrom("Cora", []ratio{{1, .2}, {20, 1.38}, {50, 1.9}, {100, math.NaN()}, {200, 1.6}})
	require.Equal(t, []string{"Cora: from 20 nodes on (1.38 times), at most 1.90 times (50 nodes)"}, dear)
	require.Empty(t, dearFrom("Cora", []ratio{{1, .2}, {20, 1}, {50, math.NaN()}}))
	require.Empty(t, dearFrom("Cora", nil))

	var table report.Table
	noteDear(&table, dear)
	require.Len(t, table.Notes, 2)
	require.Contains(t, table.Notes[1], dear[0])
	var cheap report.Table
	noteDear(&cheap, nil)
	require.Equal(t, table.Notes[:1], cheap.Notes)
}
