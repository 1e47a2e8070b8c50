package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Rounds of one kind share a line of the table, with their medians and the worst.
func TestRowsAreKeptAndRendered(t *testing.T) {
	var rows []row
	for i := range 5 {
		r := row{
			Data: "otc", Transactions: 100, Timesteps: 4, Features: 7, Together: 1, Targets: 1, Scope: "stubs", Age: -1,
			Suppressed: .01 * float64(i), Swapped: float64(i), Erased: 2, Verified: 3, ProcessorSwapped: 1, Shards: i, Anew: 4,
		}
		rows = append(rows, r)
		r.Together, r.Anew = 200, 0
		rows = append(rows, r)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "rows.jsonl")
	require.NoError(t, appendRows(path, rows[:4]))
	require.NoError(t, appendRows(path, rows[4:]))
	kept, err := readRows([]string{path})
	require.NoError(t, err)
	require.Equal(t, rows, kept)

	var table strings.Builder
	require.NoError(t, writeTables(&table, kept))
	lines := strings.Split(table.String(), "\n")
	require.Len(t, lines, 5)
	require.Equal(t, "| otc, 100 × 7 | 1 × 1, stubs | 5 | 2 (4) | 0.020 (0.040) s | 2.00 (4.00) s | 2.00 (2.00) s | "+
		"3.0 (3.0) s | 1.00 (1.00) s | 25.0 % (25.0 %) of 4.0 s | 0.0 (0.0) s |", lines[2])
	require.Contains(t, lines[3], "| 200 × 1, stubs | 5 |")

	require.NoError(t, drawFigures(dir, kept))
	drawn, err := os.ReadFile(filepath.Join(dir, "erasure-batch.svg"))
	require.NoError(t, err)
	require.Contains(t, string(drawn), "processor seconds, stubs")
	require.NoFileExists(t, filepath.Join(dir, "erasure-age.svg"), "no rounds of an age")
}
