package scan

import (
	"slices"
)

// mostHits is the number of hits after which each fingerprint gets one more at most: a record may repeat one
// millions of times.
const mostHits = 1024

type hitList struct {
	hits []Hit
	// every keeps all hits.
	every bool
	// found are the fingerprints with hits, once there are many.
	found map[int]bool
}

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

// match compares a text with candidates of its length, unless all have hits.
func (m *jsonMatch) match(kind Kind, candidates []int, text []byte, offset int64) {
	if slices.ContainsFunc(candidates, func(i int) bool { return !m.found[i] }) {
		m.note(m.sc.matching(kind, candidates, text, offset)...)
	}
}

// Summary is the result of a search in numbers.
type Summary struct {
	Files   int   `json:"files"`
	Bytes   int64 `json:"bytes"`
	Records int64 `json:"records"`
	Hits    int   `json:"hits"`
	// NotRead counts links, sockets and devices.
	NotRead int `json:"not_read"`
}

// Add returns the sum.
func (s Summary) Add(t Summary) Summary {
	return Summary{s.Files + t.Files, s.Bytes + t.Bytes, s.Records + t.Records, s.Hits + t.Hits, s.NotRead + t.NotRead}
}

// Summary returns the report in numbers.
func (r Report) Summary() Summary {
	return Summary{Files: r.Files, Bytes: r.Bytes, Hits: len(r.Hits), NotRead: len(r.NotRead)}
}
