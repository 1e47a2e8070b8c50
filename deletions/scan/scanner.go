package scan

import (
	"bytes"
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"lethe"
)

// Hit is a place where the bytes behind a fingerprint were found. It never
// carries the bytes.
type Hit struct {
	Kind Kind `json:"kind"`
	// Fingerprint is the index in the list the scanner was built from.
	Fingerprint int `json:"fingerprint"`
	// Offset counts bytes from the start of what was scanned.
	Offset int64 `json:"offset"`
}

// Scanner finds every fingerprint of a list in one pass over data.
//
// Three sieves, each exact on what it lets fall: a filter of bits over the
// anchors, one look per byte of data whatever the number and the lengths of the
// needles; the rolling hash of the window; its MAC. No occurrence is missed by
// any of them, and only the MAC decides that there is one. Rolling a hash over
// the data for each length, without anchors, was measured at less than a quarter
// of the speed for four lengths.
//
// A Scanner does not change and may be used by many goroutines at once.
type Scanner struct {
	secret       lethe.Secret
	keys         hashKeys
	fingerprints []Fingerprint
	// filter has 2^(64-shift) bits, one for the upper bits of an anchor's hash.
	filter []uint64
	shift  int
	// entries ascend by anchor. Those whose anchor's upper bits are b lie from
	// directory[b] to directory[b+1].
	entries        []scanEntry
	directory      []int32
	directoryShift int
	// keyed are the fingerprints that only MatchKey looks for, by length.
	keyed map[int][]int
	// before and after bound how far a window reaches from its anchor's start.
	before, after int
}

// scanEntry is a fingerprint as the scan needs it, its masks removed.
type scanEntry struct {
	anchor, rolling uint64
	// power is base^length.
	power       uint64
	at, length  int
	fingerprint int
}

const (
	// filterBitsPerEntry keeps the share of places that pass the filter by
	// chance under 2 %.
	filterBitsPerEntry = 64
	leastFilterLog2    = 15
)

// NewScanner builds the scanner for fingerprints made under the same secret.
// It keeps a copy of the list. An invalid fingerprint is an error that names
// its index.
func NewScanner(secret lethe.Secret, fingerprints []Fingerprint) (*Scanner, error) {
	sc := &Scanner{
		secret: secret, keys: hashKeysOf(secret), fingerprints: slices.Clone(fingerprints),
		keyed: map[int][]int{}, after: anchorBytes,
	}
	for i, f := range sc.fingerprints {
		if err := f.Validate(); err != nil {
			return nil, fmt.Errorf("fingerprint %d: %w", i, err)
		}
		if f.Kind == KindIDKey {
			sc.keyed[f.Length] = append(sc.keyed[f.Length], i)
			continue
		}
		anchorMask, rollingMask := f.masks(secret)
		sc.entries = append(sc.entries, scanEntry{
			anchor: f.Anchor ^ anchorMask, rolling: f.Rolling ^ rollingMask,
			power: powmod(sc.keys.base, f.Length), at: f.AnchorAt, length: f.Length, fingerprint: i,
		})
		sc.before = max(sc.before, f.AnchorAt)
		sc.after = max(sc.after, f.Length-f.AnchorAt)
	}
	slices.SortFunc(sc.entries, func(a, b scanEntry) int {
		return cmp.Or(cmp.Compare(a.anchor, b.anchor), cmp.Compare(a.fingerprint, b.fingerprint))
	})
	sc.index()
	return sc, nil
}

// index builds the filter and the directory of the sorted entries.
func (sc *Scanner) index() {
	log2 := max(leastFilterLog2, bits.Len(uint(len(sc.entries)*filterBitsPerEntry)))
	sc.shift = 64 - log2
	sc.filter = make([]uint64, 1<<log2/64)
	directoryLog2 := bits.Len(uint(len(sc.entries)))
	sc.directoryShift = 64 - directoryLog2
	sc.directory = make([]int32, 1<<directoryLog2+1)
	for _, e := range sc.entries {
		place := e.anchor >> sc.shift
		sc.filter[place/64] |= 1 << (place % 64)
		sc.directory[e.anchor>>sc.directoryShift+1]++
	}
	for b := 1; b < len(sc.directory); b++ {
		sc.directory[b] += sc.directory[b-1]
	}
}

// Len is the number of fingerprints.
func (sc *Scanner) Len() int { return len(sc.fingerprints) }

// ScanBytes scans data that is in memory, such as a record's value.
func (sc *Scanner) ScanBytes(data []byte) []Hit {
	// A bytes.Reader has no errors. One byte more than the data lets the first
	// read see its end.
	hits, _, _ := sc.newPass(min(chunkBytes, len(data)+1)).run(bytes.NewReader(data))
	return hits
}

// MatchKey looks for ids in the key of a record whose key is a transaction id
// or a payment's two ids joined by '>'. Unlike ScanBytes it also knows ids of
// fewer than 6 bytes, because such a key delimits them.
func (sc *Scanner) MatchKey(key []byte) []Hit {
	hits := sc.ScanBytes(key)
	if len(sc.keyed) == 0 {
		return hits
	}
	offset := 0
	for _, part := range bytes.Split(key, []byte{'>'}) {
		if candidates := sc.keyed[len(part)]; len(candidates) > 0 {
			mac := macOf(sc.secret, KindIDKey, part)
			for _, i := range candidates {
				if sc.fingerprints[i].MAC == mac {
					hits = append(hits, Hit{KindIDKey, i, int64(offset)})
				}
			}
		}
		offset += len(part) + 1
	}
	sortHits(hits)
	return hits
}

func sortHits(hits []Hit) {
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
}
