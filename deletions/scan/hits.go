package scan

import (
	"slices"
)

// mostHits is how many hits are kept before those of a fingerprint that has some are left out: a record may repeat what
// is erased millions of times.
const mostHits = 1024

// hitList are hits in one text.
type hitList struct {
	hits []Hit
	// every says that none is left out.
	every bool
	// found are the fingerprints of the hits, once there are many.
	found map[int]bool
}

// note takes hits.
func (l *hitList) note(hits ...Hit) {
	for _, h := range hits {
		if l.found[h.Fingerprint] {
			continue
		}
		if l.hits = append(l.hits, h); len(l.hits) < mostHits || l.every {
			continue
		}
		if l.found == nil {
			l.found = make(map[int]bool)
			for _, before := range l.hits {
				l.found[before.Fingerprint] = true
			}
		}
		l.found[h.Fingerprint] = true
	}
}

// match compares a text with some fingerprints of a kind, all of its length, unless hits of all of them are there.
func (m *jsonMatch) match(kind Kind, candidates []int, text []byte, offset int64) {
	if slices.ContainsFunc(candidates, func(i int) bool { return !m.found[i] }) {
		m.note(m.sc.matching(kind, candidates, text, offset)...)
	}
}

// Summary is what a search looked at and found, in numbers.
type Summary struct {
	Files   int   `json:"files"`
	Bytes   int64 `json:"bytes"`
	Records int64 `json:"records"`
	Hits    int   `json:"hits"`
	// NotRead counts links, sockets and devices met in the directories.
	NotRead int `json:"not_read"`
}

// Add sums two summaries.
func (s Summary) Add(t Summary) Summary {
	return Summary{s.Files + t.Files, s.Bytes + t.Bytes, s.Records + t.Records, s.Hits + t.Hits, s.NotRead + t.NotRead}
}

// Summary puts the report in numbers.
func (r Report) Summary() Summary {
	return Summary{Files: r.Files, Bytes: r.Bytes, Hits: len(r.Hits), NotRead: len(r.NotRead)}
}
