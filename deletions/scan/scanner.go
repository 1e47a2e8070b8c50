package scan

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"

	"lethe"
	"lethe/internal/normalise"
)

// Hit is a place with the bytes behind a fingerprint. It never has the bytes.
type Hit struct {
	Kind Kind `json:"kind"`
	// Fingerprint is an index of the scanner's list.
	Fingerprint int   `json:"fingerprint"`
	Offset      int64 `json:"offset"`
}

// Scanner finds all fingerprints of a list in one pass.
//
// Three sieves miss nothing: a bit filter over anchors, with one look per byte or per four bytes whatever the
// needles; the rolling hash of a window; its MAC, which alone decides. A rolling hash per needle length, without
// anchors, was a quarter as fast for four lengths.
//
// A Scanner is immutable and safe for concurrent use.
type Scanner struct {
	secret       lethe.Secret
	keys         hashKeys
	fingerprints []Fingerprint
	// filter has 2^(64-shift) bits by the upper bits of anchors.
	filter []uint64
	shift  int
	// coarse is the same with fewer bits, a byte each.
	coarse      []uint8
	coarseShift int
	// entries ascend by anchor; those with upper bits b are at directory[b] to directory[b+1].
	entries        []scanEntry
	directory      []int32
	directoryShift int
	// keyed (ids), payments and subjects are the fingerprints compared with keys and text, by length.
	keyed, payments, subjects map[int][]int
	// whole are longer ids by length and rolling hash, rows are feature rows by number of features, for MatchText.
	whole map[int]map[uint64][]int
	rows  map[int][]rowGroup
	// fewestFeatures and mostFeatures bound the rows' lengths.
	fewestFeatures, mostFeatures int
	columns                      columnsIndex
	// before and after bound the reach of a window around its anchor.
	before, after int
	// step is the distance of the places checked.
	step  int
	names normalise.Rule
	// passes, rooms and hashers are free for reuse.
	passes, rooms, hashers sync.Pool
}

// scanEntry is an unmasked fingerprint.
type scanEntry struct {
	anchor, rolling uint64
	// power is base^length.
	power       uint64
	at, length  int
	fingerprint int
	// row are all anchors of a strided needle.
	row []uint64
	// alike counts this and the following entries with the same window.
	alike int
}

// compareWindow orders entries; 0 means that they hash the same windows.
func (e *scanEntry) compareWindow(o *scanEntry) int {
	return cmp.Or(cmp.Compare(e.anchor, o.anchor), cmp.Compare(e.at, o.at), cmp.Compare(e.length, o.length),
		slices.Compare(e.row, o.row))
}

// rowGroup are feature rows of one length and place of the first anchor.
type rowGroup struct {
	at       int
	byAnchor map[uint64][]rowEntry
}

// rowEntry is a row's further anchors, rolling hash and fingerprint.
type rowEntry struct {
	next        []uint64
	rolling     uint64
	fingerprint int
}

const (
	// filterBitsPerEntry keeps chance matches below half a per cent: each costs a cache miss.
	filterBitsPerEntry = 256
	leastFilterLog2    = 15
	// coarseBytesPerEntry keeps chance matches of four places below a sixteenth, within the second-level cache.
	coarseBytesPerEntry = 64
	mostCoarseLog2      = 18
)

// NewScanner returns a scanner for fingerprints of a secret. An error names the index of an invalid one.
func NewScanner(secret lethe.Secret, fingerprints []Fingerprint) (*Scanner, error) {
	sc := &Scanner{
		secret: secret, keys: hashKeysOf(secret), fingerprints: slices.Clone(fingerprints),
		keyed: map[int][]int{}, payments: map[int][]int{}, subjects: map[int][]int{},
		whole: map[int]map[uint64][]int{}, rows: map[int][]rowGroup{},
		after: anchorBytes, fewestFeatures: math.MaxInt,
		step: stepOf(fingerprints),
	}
	for i, f := range sc.fingerprints {
		if err := f.Validate(); err != nil {
			return nil, fmt.Errorf("fingerprint %d: %w", i, err)
		}
		switch f.Kind {
		case KindIDKey:
			sc.keyed[f.Length] = append(sc.keyed[f.Length], i)
		case KindFeaturesOf:
			sc.addColumns(i, f)
		case KindPaymentKey:
			sc.payments[f.Length] = append(sc.payments[f.Length], i)
		case KindSubject:
			sc.subjects[f.Length] = append(sc.subjects[f.Length], i)
		default:
			sc.add(i, f)
		}
	}
	slices.SortFunc(sc.entries, func(a, b scanEntry) int {
		return cmp.Or(a.compareWindow(&b), cmp.Compare(a.rolling, b.rolling), cmp.Compare(a.fingerprint, b.fingerprint))
	})
	sc.index()
	return sc, nil
}

func (sc *Scanner) add(i int, f Fingerprint) {
	anchorMask, rollingMask := f.masks(sc.secret)
	e := scanEntry{
		anchor: f.Anchor ^ anchorMask, rolling: f.Rolling ^ rollingMask,
		power: powmod(sc.keys.base[1], f.Length), at: f.AnchorAt, length: f.Length, fingerprint: i,
	}
	anchors := []uint64{e.anchor}
	if f.strided() {
		for i, mask := range f.nextMasks(sc.secret) {
			anchors = append(anchors, f.Next[i]^mask)
		}
		e.row = anchors
	}
	switch f.Kind {
	case KindID:
		if sc.whole[f.Length] == nil {
			sc.whole[f.Length] = make(map[uint64][]int)
		}
		same := sc.whole[f.Length]
		same[e.rolling] = append(same[e.rolling], i)
	case KindFeatures:
		sc.addRow(f, rowEntry{anchors[1:], e.rolling, i}, e.anchor)
	default:
	}
	sc.before = max(sc.before, f.AnchorAt+stride-1)
	sc.after = max(sc.after, f.Length-f.AnchorAt)
	if sc.step == 1 {
		anchors = anchors[:1]
	}
	for k, anchor := range anchors {
		e.anchor, e.at = anchor, f.AnchorAt+k
		sc.entries = append(sc.entries, e)
	}
}

func (sc *Scanner) addRow(f Fingerprint, row rowEntry, first uint64) {
	groups := sc.rows[f.Length/floatBytes]
	at := slices.IndexFunc(groups, func(g rowGroup) bool { return g.at == f.AnchorAt })
	if at < 0 {
		at, groups = len(groups), append(groups, rowGroup{f.AnchorAt, make(map[uint64][]rowEntry)})
		sc.rows[f.Length/floatBytes] = groups
	}
	features := f.Length / floatBytes
	sc.fewestFeatures, sc.mostFeatures = min(sc.fewestFeatures, features), max(sc.mostFeatures, features)
	same := groups[at].byAnchor
	same[first] = append(same[first], row)
}

// stepOf returns stride, or 1 if a needle is too short for it.
func stepOf(fingerprints []Fingerprint) int {
	short := func(f Fingerprint) bool { return !f.Kind.keyed() && !f.strided() }
	if slices.ContainsFunc(fingerprints, short) {
		return 1
	}
	return stride
}

func (sc *Scanner) index() {
	log2 := max(leastFilterLog2, bits.Len(uint(len(sc.entries)*filterBitsPerEntry)))
	sc.shift = 64 - log2
	sc.filter = make([]uint64, 1<<log2/64)
	coarseLog2 := bits.Len(uint(len(sc.entries) * coarseBytesPerEntry))
	coarseLog2 = min(max(coarseLog2, leastFilterLog2), mostCoarseLog2, log2)
	sc.coarse, sc.coarseShift = make([]uint8, 1<<coarseLog2), 64-coarseLog2
	directoryLog2 := bits.Len(uint(len(sc.entries)))
	sc.directoryShift = 64 - directoryLog2
	sc.directory = make([]int32, 1<<directoryLog2+1)
	for _, e := range sc.entries {
		place := e.anchor >> sc.shift
		sc.filter[place/64] |= 1 << (place % 64)
		sc.coarse[e.anchor>>sc.coarseShift] = 1
		sc.directory[e.anchor>>sc.directoryShift+1]++
	}
	for i := len(sc.entries) - 1; i >= 0; i-- {
		e := &sc.entries[i]
		e.alike = 1
		if i+1 < len(sc.entries) && e.compareWindow(&sc.entries[i+1]) == 0 {
			e.alike += sc.entries[i+1].alike
		}
	}
	for b := 1; b < len(sc.directory); b++ {
		sc.directory[b] += sc.directory[b-1]
	}
}

// ScanBytes scans data in memory. It may drop hits of very frequent fingerprints.
func (sc *Scanner) ScanBytes(data []byte) []Hit {
	return sc.scanBytes(data, nil)
}

// scanBytes is ScanBytes of the hits that keep, if not nil, selects.
func (sc *Scanner) scanBytes(data []byte, keep func(h Hit) bool) []Hit {
	// A bytes.Reader has no errors; one more byte lets the first read see the end.
	p := sc.passFor(min(chunkBytes, len(data)+1))
	p.bounded, p.keep = true, keep
	p.memory.Reset(data)
	hits, _, _ := p.run(&p.memory)
	p.memory.Reset(nil)
	p.bounded, p.keep = false, nil
	sc.passes.Put(p)
	return hits
}

// ScanPaced is Scan of bytes at a pace, which may be nil.
func (sc *Scanner) ScanPaced(ctx context.Context, data []byte, pace *Pace) ([]Hit, error) {
	p := sc.passFor(min(chunkBytes, len(data)+1))
	hits, _, err := p.run(cancellable{ctx, bytes.NewReader(data), pace})
	sc.passes.Put(p)
	return hits, err
}

// Reach bounds how far a needle across a place, and its context, extend from it.
func (sc *Scanner) Reach() int { return sc.before + sc.after + contextBytes }

// matching returns the candidates, all of the text's length, that are for a text.
func (sc *Scanner) matching(kind Kind, candidates []int, text []byte, offset int64) (hits []Hit) {
	if len(candidates) == 0 {
		return nil
	}
	mac := sc.mac(kind, text)
	for _, i := range candidates {
		if sc.fingerprints[i].MAC == mac {
			hits = append(hits, Hit{kind, i, offset})
		}
	}
	return hits
}
