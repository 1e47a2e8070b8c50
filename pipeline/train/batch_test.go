package train

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/metrics/events"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

// counted counts what is written.
type counted struct {
	*roletest.Bus
	writes int
}

func (c *counted) Write(ctx context.Context, topic bus.Topic, records []ingest.Outgoing) error {
	c.writes++
	return c.Bus.Write(ctx, topic, records)
}

// turns is a role that goes on when it is told to.
type turns struct {
	t       *testing.T
	ctx     context.Context
	role    *role.Follower
	session *roletest.Session
}

func begin(t *testing.T, o Options) turns {
	t.Helper()
	r, err := New(o)
	require.NoError(t, err)
	session, err := roletest.Begin(t.Context(), r)
	require.NoError(t, err)
	return turns{t, t.Context(), r, session}
}

func (s turns) end() {
	require.NoError(s.t, s.session.Close())
	require.NoError(s.t, s.role.Close())
}

// rest has the role take everything that is there until nothing changes any more.
func (s turns) rest() {
	s.t.Helper()
	for range 2 * quietTicks {
		s.read()
		require.NoError(s.t, s.session.Tick(s.ctx))
	}
}

// stepped is such a role, and what its shards should hold.
type stepped struct {
	turns
	topics  *roletest.Bus
	counted *counted
	o       Options
	h       *heard
	plans   []plan
}

// step begins a role that has trained three shards through six timesteps.
func step(t *testing.T) *stepped {
	t.Helper()
	s := &stepped{topics: topics(), h: &heard{}, plans: plansOf(6)}
	s.counted = &counted{Bus: s.topics}
	s.o = optionsFor(t.TempDir(), s.counted)
	s.o.Listener = events.Tee(s.h.listener())
	s.turns = begin(t, s.o)
	t.Cleanup(s.end)
	publishAll(t, s.topics, s.plans)
	s.read()
	require.Len(t, s.h.trained, 18)
	s.h.trained = nil
	return s
}

// read has the role take everything that is there.
func (s turns) read() {
	s.t.Helper()
	for more := true; more; {
		var err error
		more, err = s.session.Poll(s.ctx)
		require.NoError(s.t, err)
	}
}

// replace publishes other slices of a timestep, which the role takes one after the other.
func (s *stepped) replace(at lethe.Timestep) {
	s.t.Helper()
	for _, p := range s.plans {
		p.slices[at-1] = sliceOf(p.shard, at, at-1, 99)
		if at == 1 {
			p.slices[0] = sliceOf(p.shard, 1, lethe.NoTimestep, 99)
		}
		publish(s.t, s.topics, p.messages(2)[at-1])
		s.read()
	}
}

// command says that every slice is replaced.
func (s *stepped) command() {
	s.t.Helper()
	var steps []wire.CommandStep
	for at := lethe.Timestep(1); at <= 6; at++ {
		steps = append(steps, wire.CommandStep{
			Timestep: at, Revision: 2, Settled: true, Shards: []lethe.ShardID{0, 1, 2},
		})
	}
	sendCommand(s.t, s.topics, 0, steps...)
	s.read()
}

// trainedOnce says that every checkpoint was trained once more, and is right.
func (s *stepped) trainedOnce() {
	s.t.Helper()
	require.Len(s.t, s.h.trained, 18)
	require.Equal(s.t, wanted(s.t, s.o, s.plans...), payloads(s.t, s.topics))
}

// A batch of requests that replaces the slices of many timesteps has every checkpoint
// trained once, wherever its command stands.
func TestABatchTrainsEveryCheckpointOnce(t *testing.T) {
	t.Run("command behind the slices", func(t *testing.T) {
		s := step(t)
		for at := lethe.Timestep(1); at <= 6; at++ {
			s.replace(at)
		}
		require.Empty(t, s.h.trained, "others may follow")
		s.command()
		s.trainedOnce()
		require.Len(t, acknowledged(t, s.topics)[deletions.StepPurged], 1)
	})
	t.Run("command among the slices", func(t *testing.T) {
		s := step(t)
		for at := lethe.Timestep(1); at <= 6; at++ {
			if s.replace(at); at == 2 {
				s.command()
				for range 2 * quietTicks {
					require.NoError(t, s.session.Tick(t.Context()))
				}
			}
		}
		s.trainedOnce()
	})
	t.Run("no command", func(t *testing.T) {
		s := step(t)
		for at := lethe.Timestep(6); at >= 1; at-- {
			s.replace(at)
		}
		for range quietTicks {
			require.Empty(t, s.h.trained)
			require.NoError(t, s.session.Tick(t.Context()))
		}
		s.trainedOnce()
	})
	t.Run("slices that do not come", func(t *testing.T) {
		s := step(t)
		s.command()
		s.replace(6)
		for range patientTicks {
			require.Empty(t, s.h.trained, "they are waited for")
			require.NoError(t, s.session.Tick(t.Context()))
		}
		require.Len(t, s.h.trained, 3, "but not for ever")
	})
}

// A model stores what it learns several timesteps at a time, and not each by itself
// because other models learn too.
func TestCheckpointsAreStoredTogether(t *testing.T) {
	s := step(t)
	for at := lethe.Timestep(1); at <= 6; at++ {
		s.replace(at)
	}
	s.counted.writes = 0
	s.command()
	// Models by their partitions, and two acknowledgements.
	require.LessOrEqual(t, s.counted.writes, 4)
	s.trainedOnce()
}
