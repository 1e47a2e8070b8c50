package search

import (
	"runtime"
	"sync"

	"lethe/deletions/scan"
	"lethe/ingest"
)

// matchedAtOnce bounds the records that are searched side by side.
const matchedAtOnce = 1024

// matching searches records on all processors and passes them on in their order. The records keep their bytes until
// flush.
type matching struct {
	scanner *scan.Scanner
	take    func(rec ingest.Record, hits []scan.Hit) error
	records []ingest.Record
}

func (m *matching) add(rec ingest.Record) error {
	if m.records = append(m.records, rec); len(m.records) < matchedAtOnce {
		return nil
	}
	return m.flush()
}

func (m *matching) flush() error {
	hits := make([][]scan.Hit, len(m.records))
	var all sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for worker := range workers {
		all.Go(func() {
			for i := worker; i < len(hits); i += workers {
				hits[i] = Hits(m.scanner, m.records[i])
			}
		})
	}
	all.Wait()
	for i, rec := range m.records {
		if err := m.take(rec, hits[i]); err != nil {
			return err
		}
	}
	m.records = m.records[:0]
	return nil
}
