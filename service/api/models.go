package api

import (
	"net/http"

	"lethe"
	"lethe/pipeline/view"
)

func ensembles(v *view.Reader, r *http.Request) (any, error) {
	return newestFirst(r, v.Ensembles, func(e view.Ensemble) lethe.Timestep { return e.Through })
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
		q.err = NewProblem(http.StatusBadRequest, "from and to are needed: the last timesteps that two ensembles learnt from")
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
		q.err = NewProblem(http.StatusBadRequest, "threshold and budget are both given: want one of them")
	}
	if q.err != nil {
		return nil, q.err
	}
	return v.Outcome(asked)
}
