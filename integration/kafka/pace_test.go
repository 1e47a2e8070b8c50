package kafka_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/integration/process"
	"lethe/service"
)

const (
	// fillPerStep is how many transactions a timestep has that is only there to be long.
	fillPerStep = 4000
	mega        = 1_000_000
)

// An erasure does not read the topics again and again while it waits for the cleaner, and is done soon
// after it has come by. KAFKA_TEST_PACE_MB is how many megabytes of transactions, of 165 features in JSON,
// are in the topic beside the erased one (20); all are in one partition, which is cleaned for it.
func TestPaceOfAnErasure(t *testing.T) {
	size := 20
	if asked := os.Getenv("KAFKA_TEST_PACE_MB"); asked != "" {
		var err error
		size, err = strconv.Atoi(asked)
		require.NoError(t, err)
	}
	l := newLabOf(t, 165)
	d := l.outside(t)
	dir := filepath.Join(t.TempDir(), "data")
	s := process.StartOutside(t, d.bin, dir, process.FreePorts(t), d.brokers,
		append(d.settings(), "--set", "kafka.partitions=1", "--set", "erasure.batch_window=100ms")...)
	d.replaySteps("1-6")
	s.Await("the end of the stream", func(now service.Status) bool { return now.TrainedThrough >= steps-1 })
	filled, last := d.fill(size * mega)
	require.Eventually(t, func() bool {
		now, ok := s.Status()
		return ok && now.LagRecords == 0 && now.Timesteps.Closed+now.Timesteps.Settled >= int(last)-1
	}, time.Hour, time.Second, "the end of the filling")
	use := func() (own, broker float64) {
		if pid := brokerProcess(); pid > 0 {
			broker = processorSeconds(t, pid)
		}
		return processorSeconds(t, s.PID()), broker
	}
	// The first one also waits for whatever the roles have not read yet.
	for n, id := range l.stream.Steps[2].Transactions[:2] {
		started := time.Now()
		own, broker := use()
		// Room for a machine that has other work.
		most := time.Minute + time.Duration(size)*time.Second/2
		status := verified(t, d.eraseWithin(max(erasureMax, most), "pace-"+strconv.Itoa(n), string(id.ID)), s)
		ownNow, brokerNow := use()
		t.Logf("%d MB in the partition: suppressed %.1f s, swapped %.1f s, erased %.1f s, verified %.1f s "+
			"(seen after %.1f s); processor seconds of lethe %.1f, of the broker %.1f",
			filled/mega, seconds(status.Elapsed.Suppressed), seconds(status.Elapsed.Swapped), seconds(status.Elapsed.Erased),
			seconds(status.Elapsed.Verified), time.Since(started).Seconds(), ownNow-own, brokerNow-broker)
		d.requireGone(l.forms(t, id.ID), dir)
		require.Less(t, seconds(status.Elapsed.Verified), most.Seconds())
	}
	require.Zero(t, s.Stop(), s.Log())
}

// fill sends transactions behind the dataset, and returns their bytes and the last timestep.
func (d *deployment) fill(size int) (sent int, t lethe.Timestep) {
	d.t.Helper()
	client, err := bus.Open(d.config())
	require.NoError(d.t, err)
	defer client.Close()
	draws := rand.New(rand.NewPCG(1, 2))
	for t = steps + 1; sent < size; t++ {
		records := make([]ingest.Outgoing, fillPerStep)
		for i := range records {
			features := make([]float32, 165)
			for k := range features {
				features[k] = float32(draws.IntN(2*mega)-mega) / mega
			}
			records[i].Key, records[i].Value, err = ingest.EncodeTransaction(lethe.Transaction{
				ID: lethe.TransactionID(fmt.Sprintf("fill-%d-%d", t, i)), Timestep: t, Features: features,
			})
			require.NoError(d.t, err)
			sent += len(records[i].Key) + len(records[i].Value)
		}
		require.NoError(d.t, client.Write(d.t.Context(), bus.Transactions, records))
	}
	return sent, t - 1
}

func seconds(e *int64) float64 {
	if e == nil {
		return -1
	}
	return float64(*e) / 1000
}

// processorSeconds are those that a process has used.
func processorSeconds(t *testing.T, pid int) float64 {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(t, err)
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const user, system, ticksASecond = 11, 12, 100
	var sum float64
	for _, at := range []int{user, system} {
		ticks, err := strconv.ParseFloat(fields[at], 64)
		require.NoError(t, err)
		sum += ticks
	}
	return sum / ticksASecond
}

// brokerProcess is that of kafka.sh, 0 if it is not known.
func brokerProcess() int {
	content, err := os.ReadFile(filepath.Join(filepath.Dir(outside.dir), "pid"))
	pid, parseErr := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil || parseErr != nil {
		return 0
	}
	return pid
}
