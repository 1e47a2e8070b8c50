package search

import (
	"runtime"
	"sync"
	"sync/atomic"

	"lethe/deletions/scan"
	"lethe/ingest"
)

// togetherBytes bounds the records that are searched at a time.
const togetherBytes = 4 << 20

// together searches records of a segment side by side, on all processors, and takes them in order.
type together struct {
	scanner *scan.Scanner
	take    func(rec ingest.Record, hits []scan.Hit) error
	records []ingest.Record
	bytes   int
}

func (t *together) segment(s Segment) error {
	const recordBytes = 256 // in memory, besides its parts
	if err := s.Records(func(rec ingest.Record) error {
		t.records = append(t.records, rec)
		if t.bytes += recordBytes + len(rec.Key) + len(rec.Value); t.bytes < togetherBytes {
			return nil
		}
		return t.flush()
	}); err != nil {
		return err
	}
	return t.flush()
}

// flush searches and takes the records collected.
func (t *together) flush() error {
	hits := make([][]scan.Hit, len(t.records))
	var next atomic.Int64
	var searches sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		searches.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(hits)); i = next.Add(1) - 1 {
				hits[i] = Hits(t.scanner, t.records[i])
			}
		})
	}
	searches.Wait()
	for i, rec := range t.records {
		if err := t.take(rec, hits[i]); err != nil {
			return err
		}
	}
	clear(t.records)
	t.records, t.bytes = t.records[:0], 0
	return nil
}
