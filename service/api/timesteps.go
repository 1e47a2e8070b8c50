package api

import (
	"encoding/binary"
	"math"
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
	limit, after := q.limit(), q.cursor()
	before := lethe.Timestep(math.MaxInt64)
	if after != nil {
		if len(after) != 8 {
			return nil, view.ErrCursor
		}
		before = lethe.Timestep(binary.BigEndian.Uint64(after))
	}
	if q.err != nil {
		return nil, q.err
	}
	list, more, err := v.Steps(before, limit)
	if err != nil {
		return nil, err
	}
	out := StepPage{Items: list}
	if more && len(list) > 0 {
		out.NextCursor = cursorOf(binary.BigEndian.AppendUint64(nil, uint64(list[len(list)-1].Timestep)))
	}
	return out, nil
}

func timestep(v *view.Reader, r *http.Request) (any, error) {
	t, err := strconv.ParseInt(r.PathValue("timestep"), 10, 64)
	if err != nil || t < 0 {
		return nil, errNothing
	}
	return orNothing(v.Step(lethe.Timestep(t)))
}
