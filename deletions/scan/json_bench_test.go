package scan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions/scan"
)

// Records as they are in transactions.v1.
func BenchmarkMatchRecord(b *testing.B) {
	secret, d := lethe.Secret{3}, lethe.NewDraw(1, "bench")
	row := make([]float32, 165)
	var text strings.Builder
	text.WriteString(`{"type":"node","id":"230007682","timestep":17,"features":[`)
	for i := range row {
		row[i] = float32(d.IntN(60000)-30000) / 1e4
		fmt.Fprintf(&text, "%s%v", strings.Repeat(",", min(i, 1)), float32(d.IntN(60000)-30000)/1e4)
	}
	text.WriteString(`]}`)
	prints, err := scan.RowFingerprints(secret, row)
	require.NoError(b, err)
	ids, err := scan.TransactionFingerprints(secret, "230107682")
	require.NoError(b, err)
	sc, err := scan.NewScanner(secret, append(prints, ids...))
	require.NoError(b, err)
	value := []byte(text.String())
	b.SetBytes(int64(len(value)))
	for b.Loop() {
		if len(sc.MatchRecord([]byte("230007682"), value)) > 0 {
			b.Fatal("found")
		}
	}
}
