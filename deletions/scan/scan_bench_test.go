package scan_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions/scan"
)

// The data is noise, decimal text, and rows of zeros and ones: what stores of
// real features, topics and word counts look like.
func BenchmarkScan(b *testing.B) {
	d := lethe.NewDraw(1, "bench")
	noise := make([]byte, 16<<20)
	text := make([]byte, len(noise))
	words := make([]byte, len(noise))
	for i := range noise {
		noise[i] = byte(d.Uint64())
		text[i] = "0123456789,.-01234"[d.IntN(18)]
		if i%4 == 3 && d.IntN(80) == 0 {
			copy(words[i-3:], []byte{0, 0, 0x80, 0x3f})
		}
	}
	for _, bench := range []struct {
		name  string
		data  []byte
		count int
	}{
		{"noise/records=1", noise, 1}, {"noise/records=200", noise, 200}, {"noise/records=2000", noise, 2000},
		{"text/records=1", text, 1}, {"text/records=2000", text, 2000},
		{"words/records=1", words, 1}, {"words/records=200", words, 200},
	} {
		b.Run(bench.name, func(b *testing.B) {
			sc := benchScanner(b, d, bench.count, bench.data)
			b.SetBytes(int64(len(bench.data)))
			for b.Loop() {
				if _, err := sc.Scan(bytes.NewReader(bench.data)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// benchScanner searches for count records: their ids, pseudonyms, and feature
// rows that differ from those in rows by one bit.
func benchScanner(b *testing.B, d *lethe.Draw, count int, rows []byte) *scan.Scanner {
	secret := lethe.Secret{3}
	var list []scan.Fingerprint
	add := func(kind scan.Kind, needle []byte) {
		f, err := scan.NewFingerprint(secret, kind, needle)
		require.NoError(b, err)
		list = append(list, f)
	}
	for range count {
		id := make([]byte, 9)
		pseudonym := make([]byte, 12)
		for i := range id {
			id[i] = '0' + byte(d.IntN(10))
		}
		for i := range pseudonym {
			pseudonym[i] = byte(d.Uint64())
		}
		add(scan.KindID, id)
		add(scan.KindPseudonym, pseudonym)
		add(scan.KindPseudonymHex, bytes.Repeat(id, 3)[:24])
		at := d.IntN(len(rows)/660-1) * 660
		row := bytes.Clone(rows[at : at+660])
		row[659] ^= 1
		add(scan.KindFeatures, row)
	}
	sc, err := scan.NewScanner(secret, list)
	require.NoError(b, err)
	return sc
}
