package scan_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/deletions/scan"
)

var testSecret = lethe.Secret{1, 2, 3, 4}

func fingerprint(t require.TestingT, kind scan.Kind, needle []byte) scan.Fingerprint {
	f, err := scan.NewFingerprint(testSecret, kind, needle)
	require.NoError(t, err)
	return f
}

func scannerOf(t require.TestingT, list ...scan.Fingerprint) *scan.Scanner {
	sc, err := scan.NewScanner(testSecret, list)
	require.NoError(t, err)
	return sc
}

// targetPrints are the fingerprints of targets.
func targetPrints(t require.TestingT, targets ...lethe.Target) (list []scan.Fingerprint) {
	for _, target := range targets {
		prints, _, err := scan.TargetFingerprints(testSecret, target)
		require.NoError(t, err)
		list = append(list, prints...)
	}
	return list
}

// rowPrints are those of a feature row.
func rowPrints(t require.TestingT, row ...float32) []scan.Fingerprint {
	prints, err := scan.RowFingerprints(testSecret, row)
	require.NoError(t, err)
	return prints
}

// featuresOf are a transaction's features at columns, of which there may be none for all.
func featuresOf(id lethe.TransactionID, columns lethe.Columns) lethe.Target {
	return lethe.Target{Kind: lethe.FeaturesTarget, Transaction: id, Columns: columns}
}

func fingerprints(t require.TestingT, needles [][]byte) []scan.Fingerprint {
	list := make([]scan.Fingerprint, len(needles))
	for i, n := range needles {
		list[i] = fingerprint(t, scan.KindBytes, n)
	}
	return list
}

// occurrences is the oracle: every place where a needle is, overlaps included.
func occurrences(data []byte, needles [][]byte) []scan.Hit {
	var hits []scan.Hit
	for at := range data {
		for i, n := range needles {
			if bytes.HasPrefix(data[at:], n) {
				hits = append(hits, scan.Hit{Kind: scan.KindBytes, Fingerprint: i, Offset: int64(at)})
			}
		}
	}
	return hits
}

// A small alphabet makes needles share anchors, overlap, and repeat.
func TestScannerAgreesWithSearch(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		letter := rapid.SampledFrom([]byte{0, 1, 0xff})
		needles := rapid.SliceOfN(rapid.SliceOfN(letter, 8, 90), 1, 6).Draw(rt, "needles")
		sc := scannerOf(rt, fingerprints(rt, needles)...)
		data := make([]byte, 0, 1000)
		for range rapid.IntRange(0, 8).Draw(rt, "pieces") {
			data = append(data, rapid.SliceOfN(letter, 0, 30).Draw(rt, "filling")...)
			data = append(data, rapid.SampledFrom(needles).Draw(rt, "needle")...)
		}
		require.Equal(rt, occurrences(data, needles), sc.ScanBytes(data))
		hits, err := sc.Scan(iotest.OneByteReader(bytes.NewReader(data)))
		require.NoError(rt, err)
		require.Equal(rt, occurrences(data, needles), hits)
	})
}

const chunk = 128 << 10

// The scanner reads chunks of 128 KiB: needles of every length are laid over
// every place near the first two seams, and at both ends of the data.
func TestNeedlesAcrossEveryBoundary(t *testing.T) {
	// The distinct bytes, where the anchor goes, are at the beginning of one and
	// at the end of the other.
	early := append([]byte("abcdef"), bytes.Repeat([]byte("ab"), 80)...)
	late := append(bytes.Repeat([]byte("ab"), 80), []byte("abcdef")...)
	needles := [][]byte{[]byte("8 bytes!"), []byte("a needle of 27 bytes, alone"), early, late}
	sc := scannerOf(t, fingerprints(t, needles)...)
	data := make([]byte, 2*chunk+1000)
	for i, n := range needles {
		pairs := [][2]int{{0, len(data) - len(n)}}
		for back := -20; back <= 2*len(n)+100; back += stride() {
			pairs = append(pairs, [2]int{chunk - back, 2*chunk - back})
		}
		for _, pair := range pairs {
			var want []scan.Hit
			for _, at := range pair {
				copy(data[at:], n)
				want = append(want, scan.Hit{Kind: scan.KindBytes, Fingerprint: i, Offset: int64(at)})
			}
			hits, err := sc.Scan(bytes.NewReader(data))
			require.NoError(t, err)
			require.Equal(t, want, hits)
			for _, at := range pair {
				clear(data[at : at+len(n)])
			}
		}
	}
}

// stride thins out the places tried in short runs.
func stride() int {
	if testing.Short() {
		return 13
	}
	return 1
}

// What stands beside an id counts on the far side of a seam too.
func TestBoundsAcrossEveryBoundary(t *testing.T) {
	sc := idScanner(t, "230425980")
	data := make([]byte, 2*chunk+1000)
	for text, want := range map[string]int{
		`\u003e230425980"`: 1, "x230425980": 0, "230425980x": 0, "1.230425980": 0, "230425980.1": 0,
	} {
		for back := -20; back <= 120; back += stride() {
			places := [2]int{chunk - back, 2*chunk - back}
			for _, at := range places {
				copy(data[at:], text)
			}
			hits, err := sc.Scan(bytes.NewReader(data))
			require.NoError(t, err)
			require.Len(t, hits, 2*want, "%s at %v", text, places)
			for _, at := range places {
				clear(data[at : at+len(text)])
			}
		}
	}
}

func TestManyFingerprintsAtOnce(t *testing.T) {
	const n = 3000
	list := make([]scan.Fingerprint, n)
	var data []byte
	var want []scan.Hit
	for i := range n {
		p := testSecret.Pseudonym(lethe.TransactionID(fmt.Sprint("node", i)))
		list[i] = fingerprint(t, scan.KindBytes, p[:8+i%9])
		if i%3 == 0 {
			want = append(want, scan.Hit{Kind: scan.KindBytes, Fingerprint: i, Offset: int64(len(data))})
			data = append(data, p[:]...)
		}
	}
	require.Equal(t, want, scannerOf(t, list...).ScanBytes(data))
}

func TestReadErrorIsReportedWithTheHitsSoFar(t *testing.T) {
	sc := scannerOf(t, fingerprint(t, scan.KindBytes, []byte("a needle")))
	boom := errors.New("boom")
	hits, err := sc.Scan(io.MultiReader(bytes.NewReader([]byte("..a needle..")), iotest.ErrReader(boom)))
	require.ErrorIs(t, err, boom)
	require.Len(t, hits, 1)
}

func TestAnotherSecretFindsNothing(t *testing.T) {
	f := fingerprint(t, scan.KindBytes, []byte("a needle"))
	sc, err := scan.NewScanner(lethe.Secret{9}, []scan.Fingerprint{f})
	require.NoError(t, err)
	require.Empty(t, sc.ScanBytes([]byte("a needle")))
}

func TestNeedlesThatCannotBeSearchedAreRefused(t *testing.T) {
	for _, c := range []struct {
		kind   scan.Kind
		needle string
	}{
		{scan.KindBytes, "1234567"},
		{scan.KindFeatures, ""},
		{scan.KindID, "12345"},
		{scan.KindIDKey, ""},
		{"rumour", "1234567890"},
	} {
		_, err := scan.NewFingerprint(testSecret, c.kind, []byte(c.needle))
		require.ErrorIs(t, err, scan.ErrNeedle)
		if c.needle != "" {
			require.NotContains(t, err.Error(), c.needle)
		}
	}
	f := fingerprint(t, scan.KindBytes, []byte("a needle"))
	f.AnchorAt = 3
	_, err := scan.NewScanner(testSecret, []scan.Fingerprint{f})
	require.ErrorContains(t, err, "anchor at 3, want 0..2")
}

// Of a needle beyond the limit the first part is searched.
func TestLongNeedleIsFoundByItsBeginning(t *testing.T) {
	d := lethe.NewDraw(5, "long")
	needle := make([]byte, scan.MaxNeedleBytes+1000)
	for i := range needle {
		needle[i] = byte(d.Uint64())
	}
	f := fingerprint(t, scan.KindBytes, needle)
	require.Equal(t, scan.MaxNeedleBytes, f.Length)
	data := slicesConcat(make([]byte, 100_000), needle, make([]byte, 100_000))
	hits, err := scannerOf(t, f).Scan(bytes.NewReader(data))
	require.NoError(t, err)
	require.Equal(t, []scan.Hit{{Kind: scan.KindBytes, Offset: 100_000}}, hits)
}

// The hashes at rest are masked: equal needles of two kinds, and needles that
// differ in one bit, have nothing in common.
func TestHashesAtRestAreMasked(t *testing.T) {
	a := fingerprint(t, scan.KindBytes, []byte("a needle"))
	b := fingerprint(t, scan.KindFeatures, []byte("a needle"))
	require.NotEqual(t, a.Anchor, b.Anchor)
	require.NotEqual(t, a.Rolling, b.Rolling)
	require.NotEqual(t, a.MAC, b.MAC)
	require.Equal(t, a, fingerprint(t, scan.KindBytes, []byte("a needle")))
}

func slicesConcat(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func kafkaString(s string) string { return string(binary.AppendVarint(nil, int64(len(s)))) + s }

// kafkaRecord is a record of a batch: attributes, time and offset of 0, key, value (none if it is empty), no headers.
func kafkaRecord(key, value string) string {
	framed := "\x01"
	if value != "" {
		framed = kafkaString(value)
	}
	return kafkaString("\x00\x00\x00" + kafkaString(key) + framed + "\x00")
}
