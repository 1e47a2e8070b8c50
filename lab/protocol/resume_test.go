package protocol_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/lab/protocol"
	"lethe/trainer"
)

var errFull = errors.New("disk full")

// memory keeps so many shards and fails to keep the next.
type memory struct {
	room, loaded int
	kept         map[protocol.CheckpointKey]*protocol.Trained
}

func (m *memory) Load(key protocol.CheckpointKey) (*protocol.Trained, bool, error) {
	t, found := m.kept[key]
	if found {
		m.loaded++
	}
	return t, found, nil
}

func (m *memory) Save(t *protocol.Trained) error {
	if len(m.kept) >= m.room {
		return errFull
	}
	m.kept[protocol.KeyOf(t.Checkpoint)] = t
	return nil
}

// Streams under every schedule, and graphs, end with the same figures whether they were trained in
// one run or in several.
func TestResumedRunsEndAlike(t *testing.T) {
	stream := generated(t, 12)
	for name, s := range map[string]protocol.StreamSettings{
		protocol.Static: streamSettings(protocol.Static), protocol.Continual: streamSettings(protocol.Continual),
		protocol.Window: streamSettings(protocol.Window), trainer.Blend: streamSettingsOf(trainer.Blend, protocol.Static),
		trainer.Logistic: streamSettingsOf(trainer.Logistic, protocol.Window),
	} {
		s.Hidden, s.Epochs = 4, 2
		if s.Model == trainer.Logistic {
			s.Hidden = 0
		}
		resumes(t, name, func(r protocol.Runtime) (*protocol.Outcome, error) {
			return protocol.RunStream(t.Context(), stream, s, r)
		})
	}
	g, s := planted(120, 1), brief()
	s.Propagate = true
	for _, shards := range []int{1, 3} {
		s.Shards = shards
		resumes(t, "graph", func(r protocol.Runtime) (*protocol.Outcome, error) {
			return protocol.RunGraph(t.Context(), g, s, r)
		})
	}
}

// resumes compares a run in one piece with one that was ended twice.
func resumes(t *testing.T, name string, run func(protocol.Runtime) (*protocol.Outcome, error)) {
	t.Helper()
	want, err := run(runtimeOf(2))
	require.NoError(t, err, name)
	kept := &memory{kept: make(map[protocol.CheckpointKey]*protocol.Trained)}
	for _, room := range []int{0, 2, 1000} {
		r := runtimeOf(1)
		kept.room, kept.loaded, r.Checkpoints = room, 0, kept
		got, err := run(r)
		if room < 1000 {
			require.ErrorIs(t, err, errFull, name)
			continue
		}
		require.NoError(t, err, name)
		require.GreaterOrEqual(t, kept.loaded, 2, name)
		got.PartitionSeconds, got.TrainSeconds, want.PartitionSeconds, want.TrainSeconds = 0, 0, 0, 0
		require.Equal(t, want, got, name)
	}
}

// The seconds of training count what earlier runs spent.
func TestSecondsCountEarlierRuns(t *testing.T) {
	s := streamSettings(protocol.Static)
	s.Hidden, s.Epochs = 4, 1
	kept := &memory{kept: make(map[protocol.CheckpointKey]*protocol.Trained), room: 1000}
	_, err := protocol.RunStream(t.Context(), generated(t, 12), s, withCheckpoints(kept))
	require.NoError(t, err)
	for _, shard := range kept.kept {
		shard.Spent = time.Hour
	}
	out, err := protocol.RunStream(t.Context(), generated(t, 12), s, withCheckpoints(kept))
	require.NoError(t, err)
	require.InDelta(t, 3600, out.TrainSeconds, 60)
}

func withCheckpoints(c protocol.Checkpoints) protocol.Runtime {
	r := runtimeOf(1)
	r.Checkpoints = c
	return r
}
