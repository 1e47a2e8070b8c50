package kafka_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lethe/deletions"
	"lethe/ingest/bus"
	"lethe/integration/process"
)

// Records of an aborted transaction, and in and behind one that is open, are in the log, though nobody reads them. An
// erasure waits until the log is without them.
func TestErasureOfRecordsThatAreNotCommitted(t *testing.T) {
	d := newLab(t).outside(t)
	s := process.StartOutside(t, d.bin, filepath.Join(t.TempDir(), "data"), process.FreePorts(t), d.brokers,
		append(d.settings(), "--set", "erasure.verify_timeout=8s")...)
	d.replaySteps("1-6")
	s.Await("the end of the stream", trained)
	topic := d.prefix + string(bus.Transactions)
	producer := func(options ...kgo.Opt) *kgo.Client {
		p, err := kgo.NewClient(append(options, kgo.SeedBrokers(strings.Split(d.brokers, ",")...),
			kgo.DefaultProduceTopic(topic))...)
		require.NoError(t, err)
		t.Cleanup(p.Close)
		return p
	}
	produce := func(p *kgo.Client, id string) {
		value := fmt.Sprintf(`{"id":%q,"timestep":7,"features":[1,2,3]}`, id)
		require.NoError(t, p.ProduceSync(t.Context(), &kgo.Record{Key: []byte(id), Value: []byte(value)}).FirstErr())
	}
	transactional := producer(kgo.TransactionalID(d.prefix + "t"))
	require.NoError(t, transactional.BeginTransaction())
	produce(transactional, "aborted-77001")
	require.NoError(t, transactional.EndTransaction(t.Context(), kgo.TryAbort))
	require.True(t, d.inLog("aborted-77001"))
	status := verified(t, d.erase("aborted", "aborted-77001"), s)
	require.Equal(t, deletions.OutcomeErased, status.Outcomes[0].Outcome)
	require.Eventually(t, func() bool { return !d.inLog("aborted-77001") }, 10*time.Second, 500*time.Millisecond)

	require.NoError(t, transactional.BeginTransaction())
	produce(transactional, "open-77002")
	waiting := d.erase("open", "open-77002")
	require.Eventually(t, func() bool {
		r := process.Run(t, d.bin, d.client("erase", "status", "open", "--json")...)
		var said deletions.Status
		if r.Code != 0 || json.Unmarshal([]byte(r.Stdout), &said) != nil {
			return false
		}
		require.NotEqual(t, deletions.Verified, said.State)
		return said.State == deletions.Failed && said.Failure == deletions.FailedHits
	}, time.Minute, time.Second, "%s", s.Log())
	require.Contains(t, s.Log(), "an open transaction keeps records")
	require.NoError(t, transactional.EndTransaction(t.Context(), kgo.TryCommit))
	status = verified(t, waiting, s)
	require.Equal(t, deletions.OutcomeErased, status.Outcomes[0].Outcome)
	require.Eventually(t, func() bool { return !d.inLog("open-77002") }, 10*time.Second, 500*time.Millisecond)
	require.Zero(t, s.Stop(), s.Log())
}

// inLog reports whether a text stands in a log of the deployment's partitions.
func (d *deployment) inLog(text string) bool {
	for _, dir := range d.logs() {
		files, err := filepath.Glob(filepath.Join(dir, "*.log"))
		require.NoError(d.t, err)
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err == nil && strings.Contains(string(data), text) {
				return true
			}
		}
	}
	return false
}
