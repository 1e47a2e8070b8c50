package kafka_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/integration/process"
	"lethe/internal/testbroker"
	"lethe/service"
)

// hangs is longer than every timeout of a client.
const hangs = 60 * time.Second

// signalBroker sends a signal to the broker that kafka.sh started.
func signalBroker(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if outside.dir == "" {
		t.Skip("the broker is not one that kafka.sh started")
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(outside.dir), "pid"))
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, signal))
}

func (d *deployment) replaySteps(which string) {
	d.t.Helper()
	replayed := process.Run(d.t, d.bin, d.client("replay", "--dataset", d.dataset(), "--steps", which)...)
	require.Zero(d.t, replayed.Code, replayed.Stderr)
}

// A broker that hangs for a minute and comes back ended lethe. It waits, says
// so within seconds, and comes to what it would have come to.
func TestABrokerThatHangs(t *testing.T) {
	l := newLab(t)
	undisturbed := l.outside(t)
	s := undisturbed.process(filepath.Join(t.TempDir(), "data"), process.FreePorts(t), "")
	undisturbed.replaySteps("1-6")
	want := s.Await("the end of the stream", trained).EnsembleHash
	require.Zero(t, s.Stop(), s.Log())

	d := l.outside(t)
	s = d.process(filepath.Join(t.TempDir(), "data"), process.FreePorts(t), "")
	d.replaySteps("1-3")
	signalBroker(t, syscall.SIGSTOP)
	defer signalBroker(t, syscall.SIGCONT)
	began := time.Now()
	s.AwaitPage("/readyz", "broker: not ok")
	require.Less(t, time.Since(began), 15*time.Second)
	time.Sleep(hangs - time.Since(began))
	require.True(t, s.Running(), s.Log())
	signalBroker(t, syscall.SIGCONT)
	s.AwaitPage("/readyz", "broker: ok")
	d.replaySteps("4-6")
	require.Equal(t, want, s.Await("the end of the stream", trained).EnsembleHash)
	s.AwaitPage("/readyz", "topics: ok")
	require.Zero(t, s.Stop(), s.Log())
}

// expire gives a topic the policy under which records go, as an operator may by
// mistake; lethe corrects it when it starts.
func (d *deployment) expire(topic bus.Topic) {
	d.t.Helper()
	client := kafka.Client{Addr: kafka.TCP(strings.Split(d.brokers, ",")...), Timeout: 10 * time.Second}
	response, err := client.IncrementalAlterConfigs(d.t.Context(), &kafka.IncrementalAlterConfigsRequest{
		Resources: []kafka.IncrementalAlterConfigsRequestResource{{
			ResourceType: kafka.ResourceTypeTopic, ResourceName: d.prefix + string(topic),
			Configs: []kafka.IncrementalAlterConfigsRequestConfig{{
				Name: "cleanup.policy", Value: "delete", ConfigOperation: kafka.ConfigOperationSet,
			}},
		}},
	})
	require.NoError(d.t, err)
	require.NoError(d.t, response.Resources[0].Error)
}

// Records that were removed before they were read are named.
func TestRecordsRemovedUnreadAreNamed(t *testing.T) {
	l := newLab(t)
	d := l.outside(t)
	dir, ports := filepath.Join(t.TempDir(), "data"), process.FreePorts(t)
	s := d.process(dir, ports, "")
	d.replaySteps("1-2")
	s.Await("two timesteps", func(s service.Status) bool { return s.Timesteps.Settled == 2 && s.LagRecords == 0 })
	require.Zero(t, s.Stop(), s.Log())
	c := bus.At(strings.Split(d.brokers, ",")...)
	c.TopicPrefix = d.prefix
	client, err := bus.Open(c)
	require.NoError(t, err)
	defer client.Close()
	ends, err := client.EndOffsets(t.Context(), bus.Transactions)
	require.NoError(t, err)
	d.replaySteps("3-3")
	d.expire(bus.Transactions)
	require.Eventually(t, func() bool { // a broker takes a moment to apply a setting
		err = testbroker.DeleteRecords(t.Context(), c.Brokers, c.Name(bus.Transactions), 1, ends[1]+5)
		return err == nil
	}, time.Minute, 100*time.Millisecond, "%v", err)
	s = process.LaunchOutside(t, d.bin, dir, ports, d.brokers, d.settings()...)
	topic := d.prefix + string(bus.Transactions)
	s.AwaitPage("/readyz", topic+"/1: offsets "+strconv.FormatInt(ends[1], 10)+" to "+
		strconv.FormatInt(ends[1]+4, 10)+" were not read and never will be: removed_unread")
	letters := 0
	require.Eventually(t, func() bool { // the page may be ahead of the dead letter
		letters = 0
		require.NoError(t, client.ReadAll(t.Context(), bus.DeadLetters, func(rec ingest.Record) error {
			if string(rec.Key) == topic+"/1/"+strconv.FormatInt(ends[1], 10) {
				letters++
			}
			return nil
		}))
		return letters > 0
	}, time.Minute, 200*time.Millisecond)
	require.Equal(t, 1, letters)
	require.Zero(t, s.Stop(), s.Log())
}
