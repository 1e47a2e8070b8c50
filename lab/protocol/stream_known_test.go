package protocol_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/dataset"
	"lethe/lab/protocol"
	"lethe/trainer"
)

// pairs returns a stream of noise in which transactions come in pairs, one pays
// the other and both have the same label: nothing but the label of one speaks for
// that of the other.
func pairs(steps int) *dataset.Stream {
	s := &dataset.Stream{FeatureCount: 2}
	for t := range lethe.Timestep(steps) {
		draw := lethe.NewDraw(7, "twins", uint64(t))
		step := dataset.Step{Timestep: t + 1}
		for pair := range 60 {
			label := lethe.Licit
			if draw.Float64() < .4 {
				label = lethe.Illicit
			}
			payment := lethe.Payment{Timestep: t + 1}
			for _, id := range []*lethe.TransactionID{&payment.Source, &payment.Target} {
				*id = lethe.TransactionID(fmt.Sprint(t, pair, len(step.Labels)))
				step.Transactions = append(step.Transactions, lethe.Transaction{
					ID: *id, Timestep: t + 1, Features: []float32{draw.Float32(), draw.Float32()},
				})
				step.Labels = append(step.Labels, lethe.LabelRecord{ID: *id, Timestep: t + 1, Label: label})
			}
			step.Payments = append(step.Payments, payment)
		}
		s.Steps = append(s.Steps, step)
	}
	return s
}

func knownSettings(share float64) protocol.StreamSettings {
	s := streamSettingsOf(trainer.Logistic, protocol.Window)
	s.Hidden = 0
	s.Split = protocol.StreamSplit{Train: 6, Validation: 2, Test: 4}
	s.Propagate, s.KnownLabels = true, share
	return s
}

// bare returns readings without what says how they were propagated.
func bare(readings []protocol.Reading) []protocol.Reading {
	out := slices.Clone(readings)
	for i := range out {
		out[i].Propagated, out[i].Propagation, out[i].Unlabelled = false, nil, false
	}
	return out
}

func TestNoLabelKnownIsTheSameAsNoPropagation(t *testing.T) {
	plain := knownSettings(0)
	plain.Propagate = false
	want := runStream(t, pairs(12), plain, 2)
	out := runStream(t, pairs(12), knownSettings(0), 2)
	require.Equal(t, want.EnsembleHash, out.EnsembleHash)
	require.Len(t, out.Readings, 3*len(want.Readings))
	for k, r := range bare(out.Readings) {
		require.Equal(t, want.Readings[k/3], r)
		require.Nil(t, out.Readings[k].Propagation)
	}
}

// Both readings leave out the labels that were known, and models never see them
// before they have scored.
func TestKnownLabelsHelpTheirNeighbours(t *testing.T) {
	plain := knownSettings(0)
	plain.Propagate = false
	none := runStream(t, pairs(12), plain, 2)
	out := runStream(t, pairs(12), knownSettings(.5), 1)
	require.Equal(t, out, runStream(t, pairs(12), knownSettings(.5), 3), "workers reach a figure")
	require.Equal(t, none.EnsembleHash, out.EnsembleHash)
	without, with := out.Readings[0], out.Readings[1]
	require.False(t, without.Propagated)
	require.True(t, with.Propagated)
	require.Equal(t, without.Test.Labelled, with.Test.Labelled)
	require.InDelta(t, 4*120/2, with.Test.Labelled, 50, "half of the labels are measured")
	require.Less(t, *without.Test.AUC, .6, "features are noise")
	require.Greater(t, *with.Test.AUC, .65, "half of the pairs are known")
	require.Greater(t, with.Propagation.Measure, with.Propagation.Without)
	control, ok := out.Control(without.Aggregate)
	require.True(t, ok)
	require.Less(t, *control.Test.AUC, .6, "it is the labels that speak")
	for i, step := range with.PerStep {
		if step.Part == "validation" {
			require.Equal(t, without.PerStep[i], step, "settings are not chosen yet")
		}
	}
}

// Nothing that comes after the score reaches it: of the labels of the last
// timestep, those that had not arrived move no answer, and the others move some,
// in the propagated reading only and not in its control.
func TestScoresUseArrivedLabelsOnly(t *testing.T) {
	s := knownSettings(.3)
	answers := func(flip func(arrived bool) bool) [][]float32 {
		t.Helper()
		stream := pairs(12)
		r := runtimeOf(2)
		before, arrived, err := protocol.LastAnswers(t.Context(), stream, s, r)
		require.NoError(t, err)
		if flip == nil {
			return before
		}
		last := &stream.Steps[len(stream.Steps)-1]
		isKnown := make(map[lethe.TransactionID]bool)
		for i, n := range protocol.SnapshotOf(lethe.Secret{}, last, stream.FeatureCount).Nodes {
			isKnown[n.ID] = arrived[i]
		}
		flipped := 0
		for i, l := range last.Labels {
			if flip(isKnown[l.ID]) {
				last.Labels[i].Label = lethe.Licit + lethe.Illicit - l.Label
				flipped++
			}
		}
		require.Positive(t, flipped)
		after, again, err := protocol.LastAnswers(t.Context(), stream, s, r)
		require.NoError(t, err)
		require.Equal(t, arrived, again)
		return after
	}
	before := answers(nil)
	require.Equal(t, before, answers(func(arrived bool) bool { return !arrived }))
	after := answers(func(arrived bool) bool { return arrived })
	for k := range before {
		if k%3 == 1 {
			require.NotEqual(t, before[k], after[k])
		} else {
			require.Equal(t, before[k], after[k])
		}
	}
}

func TestKnownLabelsOutOfBounds(t *testing.T) {
	for _, c := range []struct {
		share      float64
		validation int
		want       string
	}{
		{1, 2, "known_labels is 1, want 0 or more, less than 1"},
		{-.5, 2, "known_labels is -0.5, want 0 or more, less than 1"},
		{.5, 0, "split is 6/0/4, want validation timesteps"},
	} {
		s := knownSettings(c.share)
		s.Split.Validation = c.validation
		_, err := protocol.RunStream(t.Context(), pairs(12), s, runtimeOf(1))
		require.ErrorContains(t, err, c.want)
	}
}
