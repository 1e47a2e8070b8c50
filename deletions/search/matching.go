package search

import (
	"runtime"
	"sync"

	"lethe/deletions/scan"
	"lethe/ingest"
)

// matchedAtOnce is how many records are searched side by side, while as many are read.
const matchedAtOnce = 1024

// matching searches records on all processors and passes them on in their order. The records must keep their bytes
// until end.
type matching struct {
	scanner *scan.Scanner
	take    func(rec ingest.Record, hits []scan.Hit) error
	// records are read, and searched is before them.
	records  []ingest.Record
	searched *searched
}

// searched are records with their hits, once all goroutines have ended.
type searched struct {
	records []ingest.Record
	hits    [][]scan.Hit
	sync.WaitGroup
}

func (m *matching) add(rec ingest.Record) error {
	if m.records = append(m.records, rec); len(m.records) < matchedAtOnce {
		return nil
	}
	return m.next()
}

// end passes on the last records.
func (m *matching) end() error {
	if err := m.next(); err != nil {
		return err
	}
	return m.next()
}

// next begins to search what was read, and passes on what was searched before.
func (m *matching) next() error {
	before := m.searched
	m.searched = m.search()
	if before == nil {
		return nil
	}
	before.Wait()
	for i, rec := range before.records {
		if err := m.take(rec, before.hits[i]); err != nil {
			return err
		}
	}
	m.records = before.records[:0]
	return nil
}

func (m *matching) search() *searched {
	s := &searched{records: m.records, hits: make([][]scan.Hit, len(m.records))}
	m.records = nil
	workers := runtime.GOMAXPROCS(0)
	for worker := range workers {
		s.Go(func() {
			for i := worker; i < len(s.records); i += workers {
				s.hits[i] = Hits(m.scanner, s.records[i])
			}
		})
	}
	return s
}
