package api

import (
	"encoding/binary"
	"math"
	"net/http"

	"lethe"
	"lethe/pipeline/view"
)

// EnsemblePage is a page of ensembles, the newest first.
type EnsemblePage struct {
	Items      []view.Ensemble `json:"items"`
	NextCursor *string         `json:"next_cursor"`
}

func ensembles(v *view.Reader, r *http.Request) (any, error) {
	q := query{r: r}
	q.only("limit", "cursor")
	limit, before := q.limit(), q.before()
	if q.err != nil {
		return nil, q.err
	}
	list, more, err := v.Ensembles(before, limit)
	if err != nil {
		return nil, err
	}
	out := EnsemblePage{Items: list}
	if more && len(list) > 0 {
		out.NextCursor = cursorBefore(list[len(list)-1].Through)
	}
	return out, nil
}

// before reads the cursor of lists with the newest timestep first.
func (q *query) before() lethe.Timestep {
	after := q.cursor()
	switch {
	case after == nil:
		return math.MaxInt64
	case len(after) != 8:
		if q.err == nil {
			q.err = view.ErrCursor
		}
		return 0
	default:
		return lethe.Timestep(binary.BigEndian.Uint64(after))
	}
}

// cursorBefore is the cursor of such a list whose page ended with a timestep.
func cursorBefore(last lethe.Timestep) *string {
	return cursorOf(binary.BigEndian.AppendUint64(nil, uint64(last)))
}

// ChangesAnswer lists the models that differ between two ensembles.
type ChangesAnswer struct {
	From      lethe.Timestep `json:"from"`
	To        lethe.Timestep `json:"to"`
	Changed   []view.Change  `json:"changed"`
	Unchanged int            `json:"unchanged"`
}

func ensembleChanges(v *view.Reader, r *http.Request) (any, error) {
	q := query{r: r}
	q.only("from", "to")
	from, to := q.timestep("from"), q.timestep("to")
	if q.err == nil && (from == nil || to == nil) {
		q.err = problem(http.StatusBadRequest, "from and to are needed: the last timesteps that two ensembles learnt from")
	}
	if q.err != nil {
		return nil, q.err
	}
	out := ChangesAnswer{From: *from, To: *to}
	var err error
	out.Changed, out.Unchanged, err = v.Changes(*from, *to)
	return out, err
}

// mostBudget bounds the requested number of alerts per timestep.
const mostBudget = 1_000_000

// quality responds with the quality that a threshold, or a number of alerts, would have had.
func quality(v *view.Reader, r *http.Request) (any, error) {
	q := query{r: r}
	q.only("timestep", "threshold", "budget")
	asked := view.Choice{Timestep: q.timestep("timestep"), Budget: q.whole("budget", 0, mostBudget)}
	if threshold := q.share("threshold", -1); threshold >= 0 {
		asked.Threshold = &threshold
	}
	if q.err == nil && asked.Threshold != nil && asked.Budget > 0 {
		q.err = problem(http.StatusBadRequest, "threshold and budget are both given: want one of them")
	}
	if q.err != nil {
		return nil, q.err
	}
	return v.Outcome(asked)
}
