package api

import (
	"net/http"
	"strconv"

	"lethe"
	"lethe/pipeline/view"
)

func timesteps(v *view.Reader, r *http.Request) (any, error) {
	return newestFirst(r, v.Steps, func(s *view.Step) lethe.Timestep { return s.Timestep })
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
