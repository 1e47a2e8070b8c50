package scan

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
)

const (
	// chunkBytes fits a core's second-level cache.
	chunkBytes = 128 << 10
	// loadBytes is how far an anchor's load reads beyond it.
	loadBytes = 8 - anchorBytes
	// prefixedBytes is the shortest window hashed by prefixes.
	prefixedBytes = 64
)

// Scan reads to the end and returns every hit, by offset; on an error those so far.
func (sc *Scanner) Scan(r io.Reader) ([]Hit, error) {
	hits, bytesRead, err := sc.newPass(chunkBytes).run(r)
	if err != nil {
		return hits, fmt.Errorf("scan after %d bytes: %w", bytesRead, err)
	}
	return hits, nil
}

// pass scans streams one after another, reusing its buffers.
type pass struct {
	sc *Scanner
	// buf is the stream from start on. loadBytes beyond its length may be loaded but do not count.
	buf   []byte
	start int64
	// prefixes are the hashes of buf's prefixes, if computed; hashed counts the window bytes hashed so far.
	prefixes []uint64
	hashed   int
	// dense means that prefixes paid off in the previous buffer.
	dense bool
	hits  hitList
	// bounded allows dropping hits of frequent fingerprints; keep, if not nil, selects hits.
	bounded bool
	keep    func(h Hit) bool
	// memory reads data in memory.
	memory bytes.Reader
}

// newPass allocates for reads of about chunk bytes.
func (sc *Scanner) newPass(chunk int) *pass {
	return &pass{sc: sc, buf: make([]byte, 0, sc.roomFor(chunk))}
}

func (sc *Scanner) roomFor(chunk int) int {
	// The carried-over bytes must be few compared to the bytes read.
	return max(chunk, 4*(sc.before+sc.after+2*contextBytes)) + loadBytes
}

// passFor returns a free pass of that size, or a new one.
func (sc *Scanner) passFor(chunk int) *pass {
	if p, ok := sc.passes.Get().(*pass); ok && cap(p.buf) >= sc.roomFor(chunk) {
		return p
	}
	return sc.newPass(chunk)
}

// run scans a stream. An anchor waits for the next read while its windows and context are incomplete.
func (p *pass) run(r io.Reader) (hits []Hit, bytesRead int64, err error) {
	p.buf, p.start, p.hits = p.buf[:0], 0, hitList{every: !p.bounded}
	next := 0
	for {
		n, readErr := io.ReadFull(r, p.buf[len(p.buf):cap(p.buf)-loadBytes])
		p.dense = p.hashed > 0 && p.hashed >= len(p.buf)
		p.buf = p.buf[:len(p.buf)+n]
		p.prefixes, p.hashed = p.prefixes[:0], 0
		last := readErr != nil
		end := len(p.buf) - anchorBytes + 1
		if !last {
			end = len(p.buf) - p.sc.after - contextBytes
		}
		next = p.sieve(next, end)
		if last {
			sortHits(p.hits.hits)
			if errors.Is(readErr, io.EOF) || errors.Is(readErr, io.ErrUnexpectedEOF) {
				readErr = nil
			}
			return p.hits.hits, p.start + int64(len(p.buf)), readErr
		}
		done := max(0, next-p.sc.before-contextBytes)
		p.buf = p.buf[:copy(p.buf, p.buf[done:])]
		p.start += int64(done)
		next -= done
	}
}

// sieve checks the anchors in [from, to), a step apart, and returns where to continue.
func (p *pass) sieve(from, to int) int {
	data := p.buf[:len(p.buf)+loadBytes]
	filter, shift, multiplier := p.sc.filter, p.sc.shift&63, p.sc.keys.multiplier
	i := from
	if p.sc.step == stride {
		i = p.sieveFour(from, to)
	}
	for ; i < to; i += p.sc.step {
		h := anchorHash(multiplier, data[i:i+8])
		if place := h >> shift; filter[place/64]>>(place%64)&1 != 0 {
			p.candidate(i, h)
		}
	}
	return i
}

// sieveFour checks four anchors with one branch, as long as there are four.
func (p *pass) sieveFour(from, to int) int {
	data := p.buf[:len(p.buf)+loadBytes]
	coarse, coarseShift := p.sc.coarse, p.sc.coarseShift&63
	filter, shift, multiplier := p.sc.filter, p.sc.shift&63, p.sc.keys.multiplier
	i := from
	for ; i < to-3*stride; i += 4 * stride {
		window := data[i : i+3*stride+8]
		h0, h1 := anchorHash(multiplier, window), anchorHash(multiplier, window[stride:])
		h2, h3 := anchorHash(multiplier, window[2*stride:]), anchorHash(multiplier, window[3*stride:])
		if coarse[h0>>coarseShift]|coarse[h1>>coarseShift]|coarse[h2>>coarseShift]|coarse[h3>>coarseShift] == 0 {
			continue
		}
		for k, h := range [...]uint64{h0, h1, h2, h3} {
			if place := h >> shift; filter[place/64]>>(place%64)&1 != 0 {
				p.candidate(i+k*stride, h)
			}
		}
	}
	return i
}

// candidate checks the fingerprints with an anchor.
func (p *pass) candidate(anchor int, h uint64) {
	bucket := h >> p.sc.directoryShift
	entries := p.sc.entries[p.sc.directory[bucket]:p.sc.directory[bucket+1]]
	for len(entries) > 0 {
		e := &entries[0]
		alike := entries[:e.alike]
		entries = entries[e.alike:]
		from, to := anchor-e.at, anchor-e.at+e.length
		if e.anchor != h || from < 0 || to > len(p.buf) || !p.followed(e, from) {
			continue
		}
		rolling := p.rolling(from, to, e.power)
		first, _ := slices.BinarySearchFunc(alike, rolling, func(e scanEntry, rolling uint64) int {
			return cmp.Compare(e.rolling, rolling)
		})
		for ; first < len(alike) && alike[first].rolling == rolling; first++ {
			p.compare(alike[first].fingerprint, from, to)
		}
	}
}

// compare records a hit if the MAC agrees.
func (p *pass) compare(fingerprint, from, to int) {
	f := &p.sc.fingerprints[fingerprint]
	if p.hits.found[fingerprint] || bounded(f.Kind) && !standsAlone(p.buf, from, to) {
		return
	}
	if f.Kind == KindIDQuoted && quoteLevel(p.buf, from) != quoteLevel(p.buf, to-1) {
		return // the first of them is inside a longer name
	}
	if ofName(f.Kind) && inLongerName(p.sc.secret, p.buf, window{from, to, bounded(f.Kind)}) {
		return
	}
	if p.sc.mac(f.Kind, p.buf[from:to]) != f.MAC {
		return
	}
	if h := (Hit{f.Kind, fingerprint, p.start + int64(from)}); p.keep == nil || p.keep(h) {
		p.hits.note(h)
	}
}

// followed reports whether the needle's other anchors follow: rows of few values share single anchors.
func (p *pass) followed(e *scanEntry, from int) bool {
	if e.row == nil {
		return true
	}
	at := from + p.sc.fingerprints[e.fingerprint].AnchorAt
	for k, anchor := range e.row {
		if anchorHash(p.sc.keys.multiplier, p.buf[at+k:at+k+8:cap(p.buf)]) != anchor {
			return false
		}
	}
	return true
}

// rolling hashes a window. Long ones use prefix hashes once a buffer's worth of bytes was hashed, as rows of few
// values share anchors: at most twice the time of the better method. A buffer starts as the previous one ended.
func (p *pass) rolling(from, to int, power uint64) uint64 {
	p.hashed += to - from
	if to-from < prefixedBytes || !p.dense && p.hashed <= len(p.buf) {
		return p.sc.keys.base.hash(p.buf[from:to])
	}
	if p.prefixes == nil {
		p.prefixes = make([]uint64, 0, cap(p.buf)/blockBytes+1)
	}
	if len(p.prefixes) == 0 {
		p.prefixes = p.sc.keys.base.prefixHashes(p.prefixes, p.buf)
	}
	return p.sc.keys.base.windowHash(p.prefixes, p.buf, from, to, power)
}

// bounded reports whether a kind must stand alone.
func bounded(kind Kind) bool {
	return kind == KindID || kind == KindIDJSON || kind == KindPayment || kind == KindSubjectKey
}

// ofName reports whether a kind is a name, which a longer name may contain.
func ofName(kind Kind) bool { return bounded(kind) || kind == KindIDQuoted || kind == KindIDField }

func sortHits(hits []Hit) {
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
}
