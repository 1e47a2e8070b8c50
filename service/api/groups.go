package api

import (
	"net/http"

	"lethe"
	"lethe/pipeline/view"
	"lethe/scoring/ensemble"
)

// Group is a group of shards, and the model that learns from it.
type Group struct {
	// Model names the component's kind, "meta-model" for the one above the components. It is empty
	// for a model that the configuration no longer has.
	Model string `json:"model"`
	// Shards are the shards whose slices it learns from, ascending; for the meta-model all of
	// them.
	Shards []lethe.ShardID `json:"shards"`
	view.GroupModel
}

// GroupAnswer lists all models of an ensemble.
type GroupAnswer struct {
	// Through is the last timestep that it learned from.
	Through lethe.Timestep `json:"through"`
	Items   []Group        `json:"items"`
}

// metaModel is the name of the model above the components.
const metaModel = "meta-model"

func (a *API) groups(v *view.Reader, r *http.Request) (any, error) {
	q := query{r: r}
	q.only("through")
	asked := q.timestep("through")
	if q.err != nil {
		return nil, q.err
	}
	through, list, err := v.Groups(asked)
	if err == nil && len(list) == 0 {
		err = errNothing
	}
	if err != nil {
		return nil, err
	}
	out := GroupAnswer{Through: through, Items: []Group{}}
	for _, m := range list {
		out.Items = append(out.Items, groupOf(a.o.Layout, m))
	}
	return out, nil
}

// groupOf returns the group of a model in a layout. A model that the layout does not have belongs to a
// previous configuration.
func groupOf(l ensemble.Layout, m view.GroupModel) Group {
	g := Group{Model: metaModel, Shards: []lethe.ShardID{}, GroupModel: m}
	number, found := l.Number(m.Component, m.Group)
	switch {
	case found:
		g.Model, g.Shards = l.Config(number).Model, l.ShardsOf(number)
	case m.Component != len(l.Components) || m.Group != 0:
		g.Model = ""
	default:
		for shard := range lethe.ShardID(l.Shards) {
			g.Shards = append(g.Shards, shard)
		}
	}
	return g
}
