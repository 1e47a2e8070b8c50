package train

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest/bus"
	"lethe/internal/mixedstore"
	"lethe/internal/timestepkey"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

// sendOrder asks for an erasure that replaced one slice of shard 0.
func sendOrder(t *testing.T, topics *roletest.Bus, attempt int, at lethe.Timestep) {
	t.Helper()
	sendCommand(t, topics, attempt, wire.CommandStep{
		Timestep: at, Revision: 2, Settled: true, Shards: []lethe.ShardID{0},
	})
}

func sendCommand(t *testing.T, topics *roletest.Bus, attempt int, steps ...wire.CommandStep) {
	t.Helper()
	send(t, topics, wire.Command{Attempt: attempt, Phase: wire.PhasePurge, Steps: steps})
}

// send writes a command of the one request.
func send(t *testing.T, topics *roletest.Bus, command wire.Command) {
	t.Helper()
	command.RequestID = "gdpr-1"
	records, err := command.Records()
	require.NoError(t, err)
	require.NoError(t, topics.Write(t.Context(), bus.Control, records))
}

// acknowledged reads the attempts that were acknowledged, by step.
func acknowledged(t *testing.T, topics *roletest.Bus) map[deletions.Step][]int {
	t.Helper()
	out := make(map[deletions.Step][]int)
	for _, n := range roletest.Notices(t, topics) {
		if n.Ack != nil {
			out[n.Ack.Step] = append(out[n.Ack.Step], n.Ack.Attempt)
		}
	}
	return out
}

func awaitAcks(t *testing.T, topics *roletest.Bus, attempts ...int) {
	t.Helper()
	require.Eventually(t, func() bool { return topics.Idle(1) }, time.Minute, time.Millisecond)
	want := map[deletions.Step][]int{deletions.StepPurged: attempts, deletions.StepErased: attempts}
	require.Equal(t, want, acknowledged(t, topics))
}

// The role acknowledges an erasure once its slices are replaced, not before,
// and once for each attempt.
func TestErasureIsAcknowledgedOnceItsSlicesAreReplaced(t *testing.T) {
	topics := topics()
	p := planOf(0, 3)
	o := ofOneShard(t.TempDir(), topics)
	running(t, o)
	publish(t, topics, p.messages(1)...)
	await(t, topics, o, p)
	sendOrder(t, topics, 0, 2)
	require.Eventually(t, func() bool { return topics.Idle(1) }, time.Minute, time.Millisecond)
	require.Empty(t, acknowledged(t, topics), "the slice has not been replaced yet")
	p.slices[1] = sliceOf(0, 2, 1, 9)
	publish(t, topics, p.messages(2)[1])
	await(t, topics, o, p)
	awaitAcks(t, topics, 0)
	sendOrder(t, topics, 1, 2)
	awaitAcks(t, topics, 0, 1)

	send(t, topics, wire.Command{Attempt: 1, Phase: wire.PhaseSearch})
	require.Eventually(t, func() bool {
		return len(acknowledged(t, topics)[deletions.StepScanned]) == 1
	}, time.Minute, time.Millisecond)
}

// Without the slice of a timestep that is gone, the models are those of a
// stream that never had it, and its own models are deleted, before an erasure that
// emptied it is acknowledged. It may be the newest.
func TestATimestepThatIsGoneLeavesNoModel(t *testing.T) {
	topics := topics()
	p := planOf(0, 3)
	o := ofOneShard(t.TempDir(), topics)
	running(t, o)
	publish(t, topics, p.messages(1)...)
	await(t, topics, o, p)
	publish(t, topics, gone(0, 2))
	p.slices = []*lethe.Slice{p.slices[0], sliceOf(0, 3, 1, 0)}
	publish(t, topics, p.messages(2)[1])
	await(t, topics, o, p)
	sendCommand(t, topics, 0, wire.CommandStep{Timestep: 3, Revision: 3, Gone: true, Shards: []lethe.ShardID{0}})
	// The command is enough: the deletion may have been compacted away.
	p.slices = p.slices[:1]
	await(t, topics, o, p)
	awaitAcks(t, topics, 0)
	publish(t, topics, gone(0, 3))
	await(t, topics, o, p)
	// It may also be compacted away between two readings, of which the first one met the slice.
	old, p3 := sliceOf(0, 3, 1, 0), p
	p3.slices = []*lethe.Slice{p.slices[0], old}
	publish(t, topics, p3.messages(3)[1])
	p.slices = append(p.slices[:1:1], sliceOf(0, 4, 1, 0))
	publish(t, topics, p.messages(1)[1])
	await(t, topics, o, p)
}

// A column that is being rebuilt has the new slice before it can train on it.
func TestErasureIsNotAcknowledgedBeforeTraining(t *testing.T) {
	topics := topics()
	p := planOf(0, 3)
	o := ofOneShard(t.TempDir(), topics)
	running(t, o)
	publish(t, topics, p.messages(1)[0], p.messages(2)[2])
	sendOrder(t, topics, 0, 3)
	require.Eventually(t, func() bool { return topics.Idle(1) }, time.Minute, time.Millisecond)
	require.Empty(t, acknowledged(t, topics), "timestep 2 is missing, so 3 cannot have been trained on")
	publish(t, topics, p.messages(1)[1])
	await(t, topics, o, p)
	awaitAcks(t, topics, 0)
}

// A process that is killed while it removes the slice of a timestep that is gone may have noted
// that and have left the file, which lies behind where it goes on to read. The command, which is
// there as long as nobody has acknowledged it, has it removed.
func TestWhatAKilledProcessLeftOfAGoneTimestepGoes(t *testing.T) {
	topics := topics()
	p := planOf(0, 3)
	o := ofOneShard(t.TempDir(), topics)
	stop := running(t, o)
	publish(t, topics, p.messages(1)...)
	await(t, topics, o, p)
	path := filepath.Join(shardDir(o.Dir, 0), mixedstore.PathOf(timestepkey.New(slicePrefix, 3)))
	left, err := os.ReadFile(path)
	require.NoError(t, err)
	publish(t, topics, gone(0, 3))
	p.slices = p.slices[:2]
	await(t, topics, o, p)
	require.NoError(t, stop())
	require.NoFileExists(t, path)

	require.NoError(t, os.WriteFile(path, left, 0o600))
	sendCommand(t, topics, 0, wire.CommandStep{Timestep: 3, Revision: 2, Gone: true, Shards: []lethe.ShardID{0}})
	running(t, o)
	await(t, topics, o, p)
	awaitAcks(t, topics, 0)
	require.NoFileExists(t, path)
}
