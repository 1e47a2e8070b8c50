package role

import (
	"context"
	"errors"
	"maps"
	"slices"

	"lethe/ingest/bus"
)

// preparing are the offsets that a standby must have read before it takes over in a term. They are queried when the
// process is elected: another one may have led and published before.
type preparing struct {
	term int64
	due  map[bus.TopicPartition]int64
}

// errPrepared ends the loop of a standby: the role must be opened again.
var errPrepared = errors.New("the role must be opened again")

// Prepared reports whether a standby must close the role: it is prepared to lead, or the term in which it was to lead
// is over. Lead.Next returns the term to open it for.
func (f *Follower) Prepared(ctx context.Context) (bool, error) {
	s, p := f.around.Standing, &f.preparing
	if term := s.Lead.Term(); p.term == 0 && term != 0 {
		due, err := bus.EndsOf(ctx, f.around.Bus, append(slices.Clip(s.Open), bus.Journal)...)
		if err != nil {
			return false, err
		}
		maps.DeleteFunc(due, func(tp bus.TopicPartition, _ int64) bool { return !slices.Contains(f.follows, tp) })
		*p = preparing{term, due}
	}
	return s.Lead.passed(p.term) || p.term != 0 && s.Lead.prepares(p.term, p.due), nil
}
