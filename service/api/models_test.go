package api_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/deletions/translog"
	"lethe/ingest/bus"
	"lethe/pipeline/view"
	"lethe/pipeline/wire"
	"lethe/service/api"
)

// publish writes artefacts as the roles do, and lets the view read them.
func (s *site) publish(messages ...wire.Message) {
	require.NoError(s.t, wire.Publish(s.t.Context(), s.topics, 1, messages...))
	s.read()
}

// slice is what a shard holds of a timestep, of transactions with some labels.
func slice(t lethe.Timestep, shard lethe.ShardID, first byte, labels ...lethe.Label) wire.Message {
	s := &lethe.Slice{Timestep: t, Previous: lethe.NoTimestep, Shard: shard, FeatureCount: 1, Labels: labels}
	for i := range labels {
		s.Nodes = append(s.Nodes, lethe.Pseudonym{first, byte(i)})
		s.Features = append(s.Features, 1)
	}
	for i := range len(labels) - 1 {
		s.Edges = append(s.Edges, lethe.Edge{A: uint32(i), B: uint32(i + 1)})
	}
	return wire.Message{
		Key:      wire.Key{Kind: wire.KindSlice, Shard: shard, Timestep: t},
		Revision: 1, Payload: canonical.EncodeSlice(s),
	}
}

func TestShards(t *testing.T) {
	s := newSite(t)
	s.publish(slice(4, 0, 1, lethe.Illicit, lethe.Licit), slice(4, 1, 2, lethe.Licit, lethe.Licit))
	var dealt view.Partitioning
	s.get("/timesteps/4/shards", &dealt)
	require.Len(t, dealt.Shards, 2)
	require.Equal(t, 1, dealt.Shards[0].Illicit)
	require.Equal(t, 1, dealt.Shards[1].Payments)
	require.Zero(t, dealt.Balance)
	require.InDelta(t, -.25, dealt.Fairness, 1e-9)
	require.Equal(t, http.StatusNotFound, s.ask(http.MethodGet, "/timesteps/5/shards", nil).status)
}

func TestEnsembles(t *testing.T) {
	s := newSite(t)
	var page api.Page[view.Ensemble]
	s.get("/ensembles", &page)
	require.Empty(t, page.Items)
	model := func(group int, at lethe.Timestep, digest, replaces byte) translog.Leaf {
		c := translog.Checkpoint{Group: group, Timestep: at, Lineage: lethe.Digest{9}, Digest: lethe.Digest{digest}}
		if replaces != 0 {
			c.Replaces = lethe.Digest{replaces}
		}
		return c
	}
	leaves := []translog.Leaf{
		translog.Setup{Digest: lethe.Digest{1}},
		model(0, 1, 10, 0), model(1, 1, 11, 0), model(0, 2, 20, 0), model(0, 3, 30, 0), model(0, 2, 21, 20),
	}
	s.topics.Pass(time.Second)
	for i, leaf := range leaves {
		text, err := translog.Encode(leaf)
		require.NoError(t, err)
		s.write(bus.Log, fmt.Sprintf("%016d", i), text)
	}
	s.get("/ensembles?limit=2", &page)
	learnt := time.Unix(1, 0).UTC()
	require.Equal(t, []view.Ensemble{
		{Through: 3, Models: 2, Trained: 1, Learnt: &learnt},
		{Through: 2, Models: 2, Trained: 1, Replaced: 1, Learnt: &learnt},
	}, page.Items)
	s.get("/ensembles?limit=2&cursor="+*page.NextCursor, &page)
	require.Equal(t, []view.Ensemble{{Through: 1, Models: 2, Trained: 2, Learnt: &learnt}}, page.Items)
	require.Nil(t, page.NextCursor)
	var changes api.ChangesAnswer
	s.get("/ensembles/changes?from=1&to=2", &changes)
	require.Equal(t, []view.Change{{Before: lethe.Digest{10}, After: lethe.Digest{21}, Timestep: 2}}, changes.Changed)
	require.Equal(t, 1, changes.Unchanged)
}

// Groups are told with their shards, as the configuration has them, and with the newest model.
func TestGroups(t *testing.T) {
	s := newSite(t)
	require.Equal(t, http.StatusNotFound, s.ask(http.MethodGet, "/groups", nil).status)
	logged := 0
	model := func(component, group int, at lethe.Timestep, digest, replaces byte) {
		c := translog.Checkpoint{Component: component, Group: group, Timestep: at, Digest: lethe.Digest{digest}}
		c.Lineage = lethe.Digest{9}
		if replaces != 0 {
			c.Replaces = lethe.Digest{replaces}
		}
		text, err := translog.Encode(c)
		require.NoError(t, err)
		s.write(bus.Log, fmt.Sprintf("%016d", logged), text)
		logged++
	}
	model(0, 1, 1, 1, 0)
	model(0, 0, 1, 2, 0)
	model(1, 0, 1, 3, 0) // the meta-model
	model(0, 1, 2, 4, 0)
	model(0, 1, 2, 5, 4)
	model(7, 0, 2, 6, 0) // of a configuration before
	var got api.GroupAnswer
	s.get("/groups?through=1", &got)
	digest := func(first byte) lethe.Digest { return lethe.Digest{first} }
	of := func(component, group int, at lethe.Timestep, first byte) view.GroupModel {
		return view.GroupModel{Component: component, Group: group, Timestep: at, Digest: digest(first), Lineage: digest(9)}
	}
	all := []lethe.ShardID{0, 1, 2, 3}
	require.Equal(t, api.GroupAnswer{Through: 1, Items: []api.Group{
		{Model: "trees", Shards: all[:2], GroupModel: of(0, 0, 1, 2)},
		{Model: "trees", Shards: all[2:], GroupModel: of(0, 1, 1, 1)},
		{Model: "meta-model", Shards: all, GroupModel: of(1, 0, 1, 3)},
	}}, got)
	s.get("/groups", &got)
	require.Equal(t, lethe.Timestep(2), got.Through)
	require.Len(t, got.Items, 4)
	require.True(t, got.Items[1].Replaced)
	require.Equal(t, api.Group{Shards: []lethe.ShardID{}, GroupModel: of(7, 0, 2, 6)}, got.Items[3])
	require.Equal(t, http.StatusBadRequest, s.ask(http.MethodGet, "/groups?through=x", nil).status)
}

func TestQualityWithoutLabels(t *testing.T) {
	s := newSite(t)
	s.predicted("a", 1, .7)
	var outcome view.Outcome
	s.get("/quality?threshold=0.5", &outcome)
	require.Equal(t, view.Outcome{}, outcome)
	s.get("/quality?timestep=1&budget=3", &outcome)
	s.get("/quality", &outcome)
	require.Nil(t, outcome.Precision)
}
