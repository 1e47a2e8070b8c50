package ensemble_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/scoring/ensemble"
	"lethe/scoring/meta"
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
		got, err := ensemble.OutOfGroup(t.Context(), r, models, s)
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

// Of a slice in which nobody has a label nothing is learnt, and nobody is asked.
func TestASliceWithoutLabelsIsPassedOver(t *testing.T) {
	r, models := trainedModels(t, 3, 2)
	bare := *columns(3)[0][2]
	bare.Labels = slices.Repeat([]lethe.Label{lethe.Unknown}, len(bare.Labels))
	got, err := ensemble.OutOfGroup(t.Context(), r, models, &bare)
	require.NoError(t, err)
	require.Empty(t, got.Logits)
	sources := ensemble.Window([][]*lethe.Slice{{&bare}})
	m, err := r.Learn(t.Context(), meta.Defaults(), models, sources, new(ensemble.Known))
	require.NoError(t, err)
	require.NotNil(t, m)
}

// Who learns again asks only what is new: a model of another lineage about every slice, and
// all models about another slice. A model with the lineage of one that was asked is not.
func TestWhatIsKnownIsNotAskedAgain(t *testing.T) {
	const timesteps = 3
	r, models := trainedModels(t, timesteps, 2)
	all, other := columns(timesteps), columns(timesteps+1)
	window := [][]*lethe.Slice{{all[0][2], all[1][2], all[2][2]}}
	var known ensemble.Known
	learn := func(known *ensemble.Known) []byte {
		m, err := r.Learn(t.Context(), meta.Defaults(), models, ensemble.Window(window), known)
		require.NoError(t, err)
		return m.Encode()
	}
	first := learn(new(ensemble.Known))
	require.Equal(t, first, learn(&known))

	mute := *models[0]
	mute.Params = make([]float32, len(mute.Params))
	models[0] = &mute
	require.NotEqual(t, first, learn(new(ensemble.Known)))
	require.Equal(t, first, learn(&known), "it was asked although it has the lineage of one that was")
	mute.Lineage = lethe.Digest{1}
	second := learn(new(ensemble.Known))
	require.Equal(t, second, learn(&known), "it was not asked")

	unread := ensemble.Window(window)
	for i := range unread {
		unread[i].Read = func() (*lethe.Slice, error) { return nil, errors.New("all is known of it") }
	}
	m, err := r.Learn(t.Context(), meta.Defaults(), models, unread, &known)
	require.NoError(t, err)
	require.Equal(t, second, m.Encode())
	_, err = r.Learn(t.Context(), meta.Defaults(), models, unread, new(ensemble.Known))
	require.ErrorContains(t, err, "all is known of it")

	window[0][1] = other[1][3]
	third := learn(new(ensemble.Known))
	require.NotEqual(t, second, third)
	require.Equal(t, third, learn(&known))
}
