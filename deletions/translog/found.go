package translog

import (
	"lethe"
	"lethe/deletions"
	"lethe/deletions/internal/record"
)

// Found commits to what a request's plan has found, before anything is rewritten.
type Found struct {
	Request lethe.Digest `json:"request_digest"`
	deletions.Found
}

// Kind implements Leaf.
func (Found) Kind() Kind { return KindFound }

func (f Found) check(p *record.Problems) {
	checkRequest(p, f.Request)
	p.Check(!f.Salt.IsZero(), "salt_digest is zero")
	p.Check(len(f.All())+f.LeftOut > 0, "nothing is committed to")
	p.Check(f.LeftOut >= 0, "left_out is negative")
	for i, c := range f.All() {
		p.Check(!c.IsZero(), "commitment %d is zero", i)
	}
}

func leafOfFound(e deletions.Entry, known map[lethe.Digest]bool) []Leaf {
	if e.Progress.Found == nil || known[e.Digest] {
		return nil
	}
	return []Leaf{Found{e.Digest, *e.Progress.Found}}
}
