package scan_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

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
	var list []scan.Fingerprint
	add := func(kind scan.Kind, needle []byte) { list = append(list, fingerprint(b, kind, needle)) }
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
	return scannerOf(b, list...)
}

// Records as they are in transactions.v1, and one or many rows that are looked for.
func BenchmarkMatchRecord(b *testing.B) {
	for _, rows := range []int{1, 200} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) { benchMatchRecord(b, rows) })
	}
}

func benchMatchRecord(b *testing.B, rows int) {
	d := lethe.NewDraw(1, "bench")
	feature := func() float32 { return float32(d.IntN(60000)-30000) / 1e4 }
	var prints []scan.Fingerprint
	for i := range rows {
		row := make([]float32, 165)
		for k := range row {
			row[k] = feature()
		}
		id := lethe.TransactionID(fmt.Sprint(230107682 + i))
		prints = slices.Concat(prints, rowPrints(b, row...), targetPrints(b, lethe.Transactions(id)...))
	}
	var text strings.Builder
	text.WriteString(`{"type":"node","id":"230007682","timestep":17,"features":[`)
	for i := range 165 {
		fmt.Fprintf(&text, "%s%v", strings.Repeat(",", min(i, 1)), feature())
	}
	text.WriteString(`]}`)
	sc := scannerOf(b, prints...)
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
	sc := scannerOf(b, targetPrints(b, lethe.Transactions("230107682")[0],
		lethe.PaymentBetween("230107682", "230207682"), lethe.PaymentBetween("230107682", "230207683"),
		lethe.PaymentBetween("230107682", "230207684"))...)
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
