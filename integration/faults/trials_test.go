package faults_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/integration/process"
	"lethe/service"
)

// Somebody has put a copy of what is to be erased into the folder of a role. No
// request is verified while it lies there, and each is once it is gone.
func plantedCopies(t *testing.T, bin string) {
	d := newDeployment(t, bin, filepath.Join(t.TempDir(), "data"), "erasure.verify_timeout=5s")
	require.Zero(t, d.replay("1-4").Code)
	d.learnt(steps)
	for at, folder := range []string{"build", "train", "score"} {
		id, node := "planted-in-"+folder, d.node(1, at)
		copied := filepath.Join(d.dir, folder, "copy.bak")
		require.NoError(t, os.WriteFile(copied, fmt.Appendf(nil, `{"id":%q}`, node), 0o600))
		waiting := d.erase(id, node)
		require.Eventually(t, func() bool {
			s := d.state(id)
			require.NotEqual(t, deletions.Verified, s.State, folder)
			return s.State == deletions.Failed && s.Failure == deletions.FailedHits
		}, patience, 100*time.Millisecond, "%s: %s", folder, d.Log())
		require.NoError(t, os.Remove(copied))
		d.verified(waiting)
	}
	d.audit()
}

// Lethe itself adds no partitions to topics that hold records; when somebody else
// does, it says so, lives on and closes nothing more.
func addedPartitions(t *testing.T, bin string) {
	d := newDeployment(t, bin, filepath.Join(t.TempDir(), "data"))
	require.Zero(t, d.replay("1-2").Code)
	d.learnt(2)
	apply := process.Run(t, bin, "topics", "apply", "--brokers", d.Brokers, "--set", "kafka.partitions=5")
	require.Equal(t, 1, apply.Code)
	require.Contains(t, apply.Stderr, "partitions cannot be added")
	raw := &kafka.Client{Addr: kafka.TCP(d.Brokers)}
	_, err := raw.CreatePartitions(t.Context(), &kafka.CreatePartitionsRequest{
		Topics: []kafka.TopicPartitionsConfig{{Name: bus.At(d.Brokers).Name(bus.Transactions), Count: 5}},
	})
	require.NoError(t, err)
	d.AwaitPage("/readyz", "it has 5 partitions, and had 2")
	require.Zero(t, d.replay("3-4").Code)
	time.Sleep(3 * time.Second)
	s, ok := d.Status()
	require.True(t, ok, d.Log())
	require.Equal(t, 2, s.Timesteps.Settled)
	require.Zero(t, s.Timesteps.Closed)
}

// The folder of the graphs is removed after an erasure. All is made again, and
// the erased transaction, which is sent again, does not return.
func lostGraphs(t *testing.T, bin string) {
	d := newDeployment(t, bin, filepath.Join(t.TempDir(), "data"))
	require.Zero(t, d.replay("1-3").Code)
	d.learnt(3)
	d.verified(d.erase("before", d.node(1, 0)))
	before := d.Await("quiet", func(s service.Status) bool { return s.LagRecords == 0 })
	d.Kill()
	require.NoError(t, os.RemoveAll(filepath.Join(d.dir, "build")))
	d.start()
	require.Zero(t, d.replay("1-4").Code)
	d.learnt(steps)
	d.verified(d.erase("after", d.node(1, 1)))
	after := d.Await("quiet", func(s service.Status) bool { return s.LagRecords == 0 })
	require.Equal(t, before.Transactions+len(d.stream.Steps[3].Transactions)-1, after.Transactions)
	d.audit()
}

// The largest float32, a common code for "missing", ended the process at training
// and at every start.
func largestFeatures(t *testing.T, bin string) {
	d := newDeployment(t, bin, filepath.Join(t.TempDir(), "data"))
	require.Zero(t, d.replay("1-2").Code)
	d.learnt(2)
	client, err := bus.Open(bus.At(d.Brokers))
	require.NoError(t, err)
	defer client.Close()
	largest := strings.TrimSuffix(strings.Repeat("3.4028234663852886e38,", 8), ",")
	require.NoError(t, client.Write(t.Context(), bus.Transactions, []ingest.Outgoing{{
		Key:   []byte("largest"),
		Value: fmt.Appendf(nil, `{"type":"transaction","id":"largest","timestep":3,"features":[%s]}`, largest),
	}}))
	require.Zero(t, d.replay("3-4").Code)
	d.learnt(steps)
	refused := 0
	require.NoError(t, client.ReadAll(t.Context(), bus.DeadLetters, func(rec ingest.Record) error {
		refused++
		require.Contains(t, string(rec.Value), `"largest"`)
		return nil
	}))
	require.Equal(t, 1, refused)
	d.audit()
}
