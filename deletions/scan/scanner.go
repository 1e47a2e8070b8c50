package scan

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"lethe"
	"lethe/internal/normalise"
)

// Hit is a place where the bytes behind a fingerprint were found. It never carries the bytes.
type Hit struct {
	Kind Kind `json:"kind"`
	// Fingerprint is the index in the list the scanner was built from.
	Fingerprint int `json:"fingerprint"`
	// Offset counts bytes from the start of what was scanned.
	Offset int64 `json:"offset"`
}

// Scanner finds every fingerprint of a list in one pass over data.
//
// Three sieves, each exact on what it lets fall: a filter of bits over the anchors, one look per
// byte of data, or per four if all needles are long enough, whatever their number and lengths; the
// rolling hash of the window; its MAC. No occurrence is missed by any of them, and only the MAC
// decides that there is one. Rolling a hash over the data for each length, without anchors, was
// measured at a quarter of the speed for four lengths.
//
// A Scanner does not change and may be used by many goroutines at once.
type Scanner struct {
	secret       lethe.Secret
	keys         hashKeys
	fingerprints []Fingerprint
	// filter has 2^(64-shift) bits, one for the upper bits of an anchor's hash.
	filter []uint64
	shift  int
	// coarse is the same for fewer of the upper bits, a byte each: fewer instructions.
	coarse      []uint8
	coarseShift int
	// entries ascend by anchor. Those whose anchor's upper bits are b lie from
	// directory[b] to directory[b+1].
	entries        []scanEntry
	directory      []int32
	directoryShift int
	// keyed are the fingerprints of ids that only MatchKey and MatchText look for, by
	// length, payments those of payments, subjects those of subjects.
	keyed, payments, subjects map[int][]int
	// whole are the fingerprints of ids from 6 bytes on, by length and rolling hash, rows those of feature rows,
	// by their number of features: MatchText compares them with what JSON says.
	whole map[int]map[uint64][]int
	rows  map[int][]rowGroup
	// mostFeatures is the greatest of those numbers.
	mostFeatures int
	columns      columnsIndex
	// before and after bound how far a window reaches from its anchor's start.
	before, after int
	// step is how far apart the places are that are looked at.
	step int
	// names brings the names in records into normal form.
	names normalise.Rule
	// passes are those that are free to be used again, rooms those for runs of numbers, hashers those that make MACs.
	passes, rooms, hashers sync.Pool
}

// scanEntry is a fingerprint as the scan needs it, its masks removed.
type scanEntry struct {
	anchor, rolling uint64
	// power is base^length.
	power       uint64
	at, length  int
	fingerprint int
	// row holds all anchors of the needle, in a row, if it has a stride of them.
	row *anchorRow
	// alike counts this entry and those behind it that ask for the same window: one rolling
	// hash serves all of them.
	alike int
}

// anchors are all that the entry has.
func (e *scanEntry) anchors() []uint64 {
	if e.row == nil {
		return nil
	}
	return e.row[:]
}

// compareWindow orders entries. It is 0 if both ask for the hash of the same window wherever
// their anchors stand.
func (e *scanEntry) compareWindow(o *scanEntry) int {
	return cmp.Or(cmp.Compare(e.anchor, o.anchor), cmp.Compare(e.at, o.at), cmp.Compare(e.length, o.length),
		slices.Compare(e.anchors(), o.anchors()))
}

// anchorRow holds the anchors that begin a byte apart, without their masks.
type anchorRow [stride]uint64

// rowGroup are the feature rows of one length whose first anchor is at one place, as
// MatchText needs them.
type rowGroup struct {
	at int
	// byAnchor holds them by that anchor.
	byAnchor map[uint64][]rowEntry
}

// rowEntry is a feature row: the anchors behind the first, if it has more, its rolling hash
// and its fingerprint.
type rowEntry struct {
	next        []uint64
	rolling     uint64
	fingerprint int
}

const (
	// filterBitsPerEntry keeps the share of places that pass the filter by
	// chance under one half per cent: looking at the entries of one costs a miss of the cache.
	filterBitsPerEntry = 256
	leastFilterLog2    = 15
	// coarseBytesPerEntry keeps the share of four places that pass the coarse filter below
	// one sixteenth, as long as it fits a core's second-level cache.
	coarseBytesPerEntry = 64
	mostCoarseLog2      = 18
)

// NewScanner builds the scanner for fingerprints made under the same secret. It keeps a copy of
// the list. An invalid fingerprint is an error that names its index.
func NewScanner(secret lethe.Secret, fingerprints []Fingerprint) (*Scanner, error) {
	sc := &Scanner{
		secret: secret, keys: hashKeysOf(secret), fingerprints: slices.Clone(fingerprints),
		keyed: map[int][]int{}, payments: map[int][]int{}, subjects: map[int][]int{},
		whole: map[int]map[uint64][]int{}, rows: map[int][]rowGroup{},
		after: anchorBytes,
		step:  stepOf(fingerprints),
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

// add takes in the fingerprint at a place of the list.
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
		e.row = (*anchorRow)(anchors)
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

// addRow takes in a feature row under its first anchor.
func (sc *Scanner) addRow(f Fingerprint, row rowEntry, first uint64) {
	groups := sc.rows[f.Length/floatBytes]
	at := slices.IndexFunc(groups, func(g rowGroup) bool { return g.at == f.AnchorAt })
	if at < 0 {
		at, groups = len(groups), append(groups, rowGroup{f.AnchorAt, make(map[uint64][]rowEntry)})
		sc.rows[f.Length/floatBytes] = groups
	}
	sc.mostFeatures = max(sc.mostFeatures, f.Length/floatBytes)
	same := groups[at].byAnchor
	same[first] = append(same[first], row)
}

// stepOf returns how far apart the places may be that are looked at: every place
// counts as soon as one needle is too short to have an anchor at each.
func stepOf(fingerprints []Fingerprint) int {
	short := func(f Fingerprint) bool { return !f.Kind.keyed() && !f.strided() }
	if slices.ContainsFunc(fingerprints, short) {
		return 1
	}
	return stride
}

// index builds the filter and the directory of the sorted entries.
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

// Len is the number of fingerprints.
func (sc *Scanner) Len() int { return len(sc.fingerprints) }

// ScanBytes scans data that is in memory, such as a record's value. Of data with very many hits, not all of one
// fingerprint are returned.
func (sc *Scanner) ScanBytes(data []byte) []Hit {
	return sc.scanBytes(data, nil)
}

// scanBytes is ScanBytes, for hits that are to be kept, if that is not nil.
func (sc *Scanner) scanBytes(data []byte, keep func(h Hit) bool) []Hit {
	// A bytes.Reader has no errors. One byte more than the data lets the first
	// read see its end.
	p := sc.passFor(min(chunkBytes, len(data)+1))
	p.bounded, p.keep = true, keep
	hits, _, _ := p.run(bytes.NewReader(data))
	p.bounded, p.keep = false, nil
	sc.passes.Put(p)
	return hits
}

// ScanPaced is Scan of bytes at a pace, which may be nil. The error is the context's.
func (sc *Scanner) ScanPaced(ctx context.Context, data []byte, pace *Pace) ([]Hit, error) {
	p := sc.passFor(min(chunkBytes, len(data)+1))
	hits, _, err := p.run(cancellable{ctx, bytes.NewReader(data), pace})
	sc.passes.Put(p)
	return hits, err
}

// Reach bounds how far from a place in the data a needle that lies across it, and what
// is looked at next to it, may reach.
func (sc *Scanner) Reach() int { return sc.before + sc.after + contextBytes }

// matching returns those of some fingerprints of a kind, all of a text's length, that stand
// for the text.
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
