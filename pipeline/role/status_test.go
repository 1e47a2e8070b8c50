package role_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/scoring/quality"
)

// Each role tells what it knows; together they tell all, in any order.
func TestMergePutsTogetherWhatRolesKnow(t *testing.T) {
	quality := &quality.Summary{Labelled: 3}
	consumed := map[bus.TopicPartition]int64{{Topic: bus.Labels}: 7}
	served := &role.Ensemble{Through: 1}
	graphs := &role.Status{
		Steps: map[lethe.Timestep]role.Step{
			1: {State: lethe.Settled, Nodes: 5, Payments: 4, Labels: 3}, 2: {State: lethe.Open, Nodes: 2},
		},
		Erasures: map[deletions.State]int{deletions.Verified: 1}, Consumed: consumed,
	}
	score := &role.Status{
		Steps:    map[lethe.Timestep]role.Step{1: {Predictions: 5, Quality: quality}, 3: {Predictions: 1}},
		Ensemble: served,
	}
	for _, all := range [][]*role.Status{{graphs, {}, score}, {score, graphs, {}}} {
		s := role.Merge(all...)
		require.Equal(t, map[lethe.Timestep]role.Step{
			1: {State: lethe.Settled, Nodes: 5, Payments: 4, Labels: 3, Predictions: 5, Quality: quality},
			2: {State: lethe.Open, Nodes: 2}, 3: {Predictions: 1},
		}, s.Steps)
		require.Equal(t, graphs.Erasures, s.Erasures)
		require.Equal(t, served, s.Ensemble)
		require.Equal(t, consumed, s.Consumed)
		require.Equal(t, []int{1, 0, 1}, []int{s.Count(lethe.Open), s.Count(lethe.Closed), s.Count(lethe.Settled)})
		require.Equal(t, 7, s.Transactions())
		require.Equal(t, 6, s.Predictions())
	}
	require.Nil(t, role.Merge(score).Consumed)
}
