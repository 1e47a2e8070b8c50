package ensemble_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/scoring/ensemble"
	"lethe/scoring/stack"
	"lethe/trainer"
)

// What the meta-model learns of a node comes from the models that did not learn from it,
// each asked about the whole slice.
func TestRowsAreAskedOfOtherGroups(t *testing.T) {
	const timesteps = 3
	l := mixed(t)
	r, models := trainedModels(t, timesteps, 2)
	asked := 0
	for _, column := range columns(timesteps) {
		s := column[timesteps-1]
		got, err := ensemble.OutOfGroup(r, t.Context(), models, s)
		require.NoError(t, err)
		require.Equal(t, len(l.Components), got.Components)
		var want []float64
		for node, label := range s.Labels {
			if label == lethe.Unknown {
				continue
			}
			for k := range l.Components {
				var said []float64
				for number := range lethe.ShardID(l.Models()) {
					if component, _ := l.Place(number); component != k || slices.Contains(l.ShardsOf(number), s.Shard) {
						continue
					}
					posteriors, err := r.Engine(number).Probabilities(t.Context(), models[number], trainer.InputOfSlice(s))
					require.NoError(t, err)
					said = append(said, ensemble.Illicit(posteriors)[node])
				}
				want = append(want, stack.MeanLogit(said))
			}
			asked++
		}
		require.Equal(t, want, got.Logits)
	}
	require.Positive(t, asked)
}
