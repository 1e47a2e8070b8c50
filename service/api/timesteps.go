package api

import (
	"net/http"
	"strconv"

	"lethe"
	"lethe/pipeline/view"
)

// StepPage is a page of timesteps, the newest first.
type StepPage struct {
	Items      []*view.Step `json:"items"`
	NextCursor *string      `json:"next_cursor"`
}

func timesteps(v *view.Reader, r *http.Request) (any, error) {
	q := query{r: r}
	q.only("limit", "cursor")
	limit, before := q.limit(), q.before()
	if q.err != nil {
		return nil, q.err
	}
	list, more, err := v.Steps(before, limit)
	if err != nil {
		return nil, err
	}
	out := StepPage{Items: list}
	if more && len(list) > 0 {
		out.NextCursor = cursorBefore(list[len(list)-1].Timestep)
	}
	return out, nil
}

func timestep(v *view.Reader, r *http.Request) (any, error) {
	t, err := timestepIn(r)
	if err != nil {
		return nil, err
	}
	return orNothing(v.Step(t))
}

// timestepIn reads the timestep in the path.
func timestepIn(r *http.Request) (lethe.Timestep, error) {
	t, err := strconv.ParseInt(r.PathValue("timestep"), 10, 64)
	if err != nil || t < 0 {
		return 0, errNothing
	}
	return lethe.Timestep(t), nil
}

func shards(v *view.Reader, r *http.Request) (any, error) {
	t, err := timestepIn(r)
	if err != nil {
		return nil, err
	}
	return orNothing(v.Shards(t))
}
