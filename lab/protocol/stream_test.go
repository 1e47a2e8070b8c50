package protocol_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/dataset"
	"lethe/lab/protocol"
	"lethe/trainer"
	"lethe/trainer/kernels"
	"lethe/trainer/models"
)

func generated(t *testing.T, steps int) *dataset.Stream {
	t.Helper()
	options := dataset.GenerateDefaults()
	options.Steps, options.NodesPerStep, options.Seed = steps, 120, 5
	s, err := dataset.Generate(options)
	require.NoError(t, err)
	return s
}

// streamSettings are for streams of 12 timesteps.
func streamSettings(schedule string) protocol.StreamSettings {
	return streamSettingsOf(models.EllipticGIN, schedule)
}

func streamSettingsOf(model, schedule string) protocol.StreamSettings {
	s := protocol.StreamDefaults(model, schedule, protocol.SplitFor(12))
	s.Shards, s.Hidden, s.Seed = 3, 16, 2
	s.Aggregate = []string{protocol.AggregateMean, protocol.AggregateSimilarity, protocol.AggregateLearned}
	return s
}

func runStream(t *testing.T, stream *dataset.Stream, s protocol.StreamSettings, workers int) *protocol.Outcome {
	t.Helper()
	out, err := protocol.RunStream(t.Context(), stream, s, runtimeOf(workers))
	require.NoError(t, err)
	out.PartitionSeconds, out.TrainSeconds = 0, 0
	return out
}

func TestStreamSchedules(t *testing.T) {
	if testing.Short() {
		t.Skip("trains whole streams")
	}
	stream := generated(t, 12)
	for _, schedule := range []string{protocol.Static, protocol.Continual, protocol.Window} {
		t.Run(schedule, func(t *testing.T) {
			s := streamSettings(schedule)
			one := runStream(t, stream, s, 1)
			require.Equal(t, one, runStream(t, stream, s, 3), "workers reach a figure")
			for _, r := range one.Readings {
				require.Greater(t, *r.Test.AUC, .6, r.Aggregate)
				labelled := 0
				for _, step := range r.PerStep {
					if step.Part == "test" {
						labelled += step.Labelled
					}
				}
				require.Equal(t, r.Test.Labelled, labelled)
			}
		})
	}
}

// Models that look at rows go through a stream too, and see neighbours through
// one-hop features.
func TestStreamOfRowModels(t *testing.T) {
	if testing.Short() {
		t.Skip("trains whole streams")
	}
	stream := generated(t, 12)
	for _, model := range trainer.RowModels() {
		s := streamSettingsOf(model, protocol.Window)
		s.Hidden = 0
		raw := runStream(t, stream, s, 1)
		s.OneHop = true
		one := runStream(t, stream, s, 1)
		require.Equal(t, one, runStream(t, stream, s, 3), "workers reach a figure")
		require.Greater(t, *one.Readings[0].Test.AUC, .6, model)
		require.NotEqual(t, raw.EnsembleHash, one.EnsembleHash)
		require.NotEqual(t, "train", one.Readings[0].PerStep[0].Part, "no model is needed for training timesteps")
		s.Schedule = protocol.Continual
		_, err := protocol.RunStream(t.Context(), stream, s, runtimeOf(1))
		require.ErrorContains(t, err, `schedule is "continual", want static or window`)
	}
}

// A blend weighs its models by what they had not seen yet; trained once, alike.
func TestStreamOfBlends(t *testing.T) {
	if testing.Short() {
		t.Skip("fits many forests")
	}
	stream := generated(t, 8)
	for _, schedule := range []string{protocol.Static, protocol.Continual} {
		s := streamSettingsOf(trainer.Blend, schedule)
		s.Split, s.Hidden, s.OneHop, s.OneHopDirected = protocol.SplitFor(8), 0, true, true
		s.Components = []string{trainer.Logistic, trainer.Trees}
		one := runStream(t, stream, s, 1)
		require.Equal(t, one, runStream(t, stream, s, 3), "workers reach a figure")
		require.Greater(t, *one.Readings[0].Test.AUC, .6, schedule)
		s.Components = s.Components[:1]
		require.NotEqual(t, one.Readings[0].Test, runStream(t, stream, s, 2).Readings[0].Test, "trees have a say")
	}
}

func TestBlendRefusals(t *testing.T) {
	stream := generated(t, 8)
	s := streamSettingsOf(trainer.Blend, protocol.Window)
	s.Split = protocol.SplitFor(8)
	_, err := protocol.RunStream(t.Context(), stream, s, runtimeOf(1))
	require.ErrorContains(t, err, `schedule is "window", want static or continual for model "blend"`)
	s.Schedule, s.Components = protocol.Continual, []string{"oracle"}
	_, err = protocol.RunStream(t.Context(), stream, s, runtimeOf(1))
	require.ErrorContains(t, err, `components is "oracle"`)
	s.Model = trainer.Logistic
	_, err = protocol.RunStream(t.Context(), stream, s, runtimeOf(1))
	require.ErrorContains(t, err, `want none for model "logistic"`)
}

// Payers and payees apart are another input than neighbours.
func TestStreamOfDirectedOneHop(t *testing.T) {
	stream := generated(t, 12)
	s := streamSettingsOf(trainer.Logistic, protocol.Window)
	s.Hidden, s.OneHop = 0, true
	undirected := runStream(t, stream, s, 2)
	s.OneHopDirected = true
	directed := runStream(t, stream, s, 2)
	require.NotEqual(t, undirected.EnsembleHash, directed.EnsembleHash)
	require.Greater(t, *directed.Readings[0].Test.AUC, .6)
	s.OneHop = false
	_, err := protocol.RunStream(t.Context(), stream, s, runtimeOf(1))
	require.ErrorContains(t, err, "one_hop_directed is true, want false without one-hop features")
}

// The progress line foretells the fits of models without epochs, and in a blend
// the steps of networks beside them.
func TestExpectedSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("trains whole streams")
	}
	stream := generated(t, 12)
	for _, c := range []struct {
		schedule, model string
		components      []string
	}{
		{protocol.Window, trainer.Logistic, nil},
		{protocol.Static, trainer.Blend, []string{trainer.Logistic, "elliptic-gin"}},
		{protocol.Continual, trainer.Blend, []string{trainer.Logistic, "elliptic-gin"}},
	} {
		s := streamSettingsOf(c.model, c.schedule)
		s.Components = c.components
		s.Epochs = 2
		var heard atomic.Int64
		_, err := protocol.RunStream(t.Context(), stream, s, protocol.Runtime{
			Kernels: kernels.Default(), Workers: 2, Now: time.Now, Epoch: func(protocol.Epoch) { heard.Add(1) },
		})
		require.NoError(t, err)
		require.EqualValues(t, s.ExpectedSteps(), heard.Load(), c)
	}
}

// The labels of the test timesteps may be learnt from only after they were
// scored: under static never, under continual not within the last timestep.
func TestStreamTestLabelsDoNotReachTraining(t *testing.T) {
	if testing.Short() {
		t.Skip("trains whole streams")
	}
	flip := func(stream *dataset.Stream, index int) {
		labels := append([]lethe.LabelRecord(nil), stream.Steps[index].Labels...)
		for i := range labels {
			labels[i].Label = lethe.Licit + lethe.Illicit - labels[i].Label
		}
		stream.Steps[index].Labels = labels
	}
	for _, schedule := range []string{protocol.Static, protocol.Continual} {
		stream := generated(t, 12)
		s := streamSettings(schedule)
		s.Epochs = 1
		before := runStream(t, stream, s, 2)
		flip(stream, 11)
		after := runStream(t, stream, s, 2)
		require.Equal(t, before.EnsembleHash, after.EnsembleHash, schedule)
		flip(stream, 10)
		after = runStream(t, stream, s, 2)
		if schedule == protocol.Static {
			require.Equal(t, before.EnsembleHash, after.EnsembleHash)
		} else {
			require.NotEqual(t, before.EnsembleHash, after.EnsembleHash)
		}
	}
}

func TestSplits(t *testing.T) {
	datadriven.RunTest(t, "testdata/splits", func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "parse":
			s, err := protocol.ParseSplit(d.Input)
			if err != nil {
				return err.Error() + "\n"
			}
			return s.String() + "\n"
		case "for":
			var n int
			d.ScanArgs(t, "timesteps", &n)
			return protocol.SplitFor(n).String() + "\n"
		default:
			t.Fatalf("no such command %s", d.Cmd)
			return ""
		}
	})
}

func TestStreamShorterThanItsSplit(t *testing.T) {
	s := streamSettings(protocol.Static)
	s.Split = protocol.EllipticSplit()
	_, err := protocol.RunStream(t.Context(), generated(t, 5), s, runtimeOf(1))
	require.EqualError(t, err, "split 30/4/15 wants 49 timesteps, the stream has 5")
}
