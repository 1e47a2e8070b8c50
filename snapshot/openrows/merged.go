package openrows

import (
	"container/heap"
	"errors"

	"lethe"
)

// merged reads the rows of several files as one list, by pseudonym.
type merged struct{ readers }

// readers are the files that are not at their end; the one with the next row is first.
type readers []*reader

var _ heap.Interface = (*readers)(nil)

// Len implements heap.Interface.
func (r readers) Len() int { return len(r) }

// Less implements heap.Interface.
func (r readers) Less(i, j int) bool { return r[i].pseudonym().Compare(r[j].pseudonym()) < 0 }

// Swap implements heap.Interface.
func (r readers) Swap(i, j int) { r[i], r[j] = r[j], r[i] }

// Push implements heap.Interface.
func (r *readers) Push(x any) { *r = append(*r, x.(*reader)) } //nolint:forcetypeassert // this package's own

// Pop implements heap.Interface.
func (r *readers) Pop() any {
	last := len(*r) - 1
	x := (*r)[last]
	*r = (*r)[:last]
	return x
}

// merge opens files.
func (f *folder) merge(list []description) (*merged, error) {
	m := new(merged)
	for _, d := range list {
		r, err := f.open(d)
		if err != nil {
			return nil, errors.Join(err, m.close())
		}
		if r.ended() {
			err = r.close()
		} else {
			heap.Push(&m.readers, r)
		}
		if err != nil {
			return nil, errors.Join(err, m.close())
		}
	}
	return m, nil
}

// before calls fn for the rows that sort before p, all remaining rows if p is nil, and skips the row of p itself.
// Rows are valid only during the call.
func (m *merged) before(p *lethe.Pseudonym, fn func(lethe.Pseudonym, []byte) error) error {
	for len(m.readers) > 0 {
		first := m.readers[0]
		order := -1
		if p != nil {
			order = first.pseudonym().Compare(*p)
		}
		if order > 0 {
			return nil
		}
		if order < 0 {
			if err := fn(first.pseudonym(), first.row()); err != nil {
				return err
			}
		}
		if err := first.advance(); err != nil {
			return err
		}
		if !first.ended() {
			heap.Fix(&m.readers, 0)
			continue
		}
		heap.Pop(&m.readers)
		if err := first.close(); err != nil {
			return err
		}
	}
	return nil
}

// close closes the files that were not read to their end.
func (m *merged) close() error {
	var errs []error
	for _, r := range m.readers {
		errs = append(errs, r.close())
	}
	m.readers = nil
	return errors.Join(errs...)
}
