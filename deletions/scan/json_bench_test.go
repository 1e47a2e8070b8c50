package scan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions/scan"
)

// Records as they are in transactions.v1, and one or many rows that are looked for.
func BenchmarkMatchRecord(b *testing.B) {
	for _, rows := range []int{1, 200} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) { benchMatchRecord(b, rows) })
	}
}

func benchMatchRecord(b *testing.B, rows int) {
	secret, d := lethe.Secret{3}, lethe.NewDraw(1, "bench")
	feature := func() float32 { return float32(d.IntN(60000)-30000) / 1e4 }
	var prints []scan.Fingerprint
	for i := range rows {
		row := make([]float32, 165)
		for k := range row {
			row[k] = feature()
		}
		forms, err := scan.RowFingerprints(secret, row)
		require.NoError(b, err)
		ids, err := scan.TransactionFingerprints(secret, lethe.TransactionID(fmt.Sprint(230107682+i)))
		require.NoError(b, err)
		prints = append(append(prints, forms...), ids...)
	}
	var text strings.Builder
	text.WriteString(`{"type":"node","id":"230007682","timestep":17,"features":[`)
	for i := range 165 {
		fmt.Fprintf(&text, "%s%v", strings.Repeat(",", min(i, 1)), feature())
	}
	text.WriteString(`]}`)
	sc, err := scan.NewScanner(secret, prints)
	require.NoError(b, err)
	value := []byte(text.String())
	b.SetBytes(int64(len(value)))
	for b.Loop() {
		if len(sc.MatchRecord([]byte("230007682"), value)) > 0 {
			b.Fatal("found")
		}
	}
}

// One erasure of a transaction with payments, searched for in the kinds of records that topics hold most of.
func BenchmarkMatchRecord_Topics(b *testing.B) {
	secret := lethe.Secret{3}
	prints, err := scan.TransactionFingerprints(secret, "230107682")
	require.NoError(b, err)
	for i := range 3 {
		forms, err := scan.PaymentFingerprints(secret, "230107682", lethe.TransactionID(fmt.Sprint(230207682+i)))
		require.NoError(b, err)
		prints = append(prints, forms...)
	}
	sc, err := scan.NewScanner(secret, prints)
	require.NoError(b, err)
	for _, c := range []struct{ name, key, value string }{
		{"label", "230007682", `{"type":"label","id":"230007682","timestep":17,"label":"licit"}`},
		{"payment", "230007682>230007683", `{"type":"payment","source":"230007682","target":"230007683","timestep":17}`},
		{"prediction", "230007682", `{"id":"63e3be869075a6a9a28e85501d05ff36","transaction":"230007682","timestep":17,` +
			`"probability":0.0312,"class":"licit","threshold":0.35,"ensemble_version":` +
			`"63e3be869075a6a9a28e85501d05ff36603ee30186b08be93c07ccbba4153df1","trained_through":16,"final":true}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			key, value := []byte(c.key), []byte(c.value)
			b.SetBytes(int64(len(value)))
			b.ReportAllocs()
			for b.Loop() {
				if len(sc.MatchRecord(key, value)) > 0 {
					b.Fatal("found")
				}
			}
		})
	}
}
