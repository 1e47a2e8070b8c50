package kafka_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/deletions"
	"lethe/integration/process"
	"lethe/service"
)

// cluster is the three brokers that kafka.sh run3 started.
type cluster struct {
	t      *testing.T
	folder string
}

// newCluster skips the test if there are not three brokers.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	if outside.cluster == "" {
		t.Skip("no three brokers: run make kafka-test")
	}
	return &cluster{t, outside.cluster}
}

// signal sends a signal to broker N, from 1.
func (c *cluster) signal(broker int, signal syscall.Signal) {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.folder, strconv.Itoa(broker), "pid"))
	require.NoError(c.t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(c.t, err)
	require.NoError(c.t, syscall.Kill(pid, signal))
}

// stall has a broker hang and returns what lets it go on.
func (c *cluster) stall(broker int) (goOn func()) {
	c.t.Helper()
	c.signal(broker, syscall.SIGSTOP)
	goOn = func() { c.signal(broker, syscall.SIGCONT) }
	c.t.Cleanup(goOn) // or the script could not end it in order
	return goOn
}

// logs is where a broker keeps its logs.
func (c *cluster) logs(broker int) string {
	return filepath.Join(c.folder, strconv.Itoa(broker), "logs")
}

// restart starts a broker that was killed.
func (c *cluster) restart(broker int) {
	c.t.Helper()
	out, err := exec.Command("./kafka.sh", "restart", strconv.Itoa(broker)).CombinedOutput()
	require.NoError(c.t, err, string(out))
}

// Topics are kept by three brokers. One is killed, later another one hangs for a minute
// while two go on, and near its end a third is killed, so that nobody can write. No
// process of lethe ends; with two brokers the stream goes on, with one everything waits
// and says so, and an erasure that was asked for before is verified. In the end all is as
// on a broker that was there all the time.
func TestBrokersOfThreeAreLost(t *testing.T) {
	three := newCluster(t)
	l := newLab(t)
	erased, _ := l.subjects(t)
	want := l.erasedAfter(t, 3, string(erased))
	d := l.outside(t)
	d.prepare()
	root := t.TempDir()
	var all []*process.Service
	for _, role := range []string{"build", "train", "score"} {
		all = append(all, d.as("lethe").process(filepath.Join(root, role), process.FreePorts(t), role))
	}
	build, score := all[0], all[2]
	t.Cleanup(func() {
		if t.Failed() {
			for _, s := range all {
				t.Logf("what it said:\n%s", s.Log())
			}
		}
	})
	goesOn := func(through int, without string) {
		t.Helper()
		began := time.Now()
		d.as("producer").replaySteps(strconv.Itoa(through) + "-" + strconv.Itoa(through))
		score.Await("the models of a timestep", func(s service.Status) bool { return int(s.TrainedThrough) == through })
		t.Logf("timestep %d was learnt %.1f s after its replay began, %s", through, time.Since(began).Seconds(), without)
	}
	goesOn(1, "with three brokers")

	three.signal(1, syscall.SIGKILL)
	goesOn(2, "one broker killed just before")
	goesOn(3, "one broker gone")
	erasure := d.as("compliance").erase("three-brokers", string(erased))
	build.Await("the models without the record", func(s service.Status) bool { return s.Erasures[deletions.Erased] == 1 })
	three.restart(1)

	goOn, stalled := three.stall(2), time.Now()
	goesOn(4, "another broker stalled just before")
	time.Sleep(hangs - 15*time.Second - time.Since(stalled))
	three.signal(3, syscall.SIGKILL)
	killed := time.Now()
	for _, s := range all {
		s.AwaitPage("/readyz", "not ok")
		require.Less(t, time.Since(killed), 15*time.Second, "%s", s.Log())
	}
	time.Sleep(hangs - time.Since(stalled))
	goOn()
	three.restart(3)
	for _, s := range all {
		s.AwaitPage("/readyz", "topics: ok")
		s.AwaitPage("/readyz", "broker: ok")
		s.AwaitPage("/metrics", "lethe_broker_reachable 1")
	}
	goesOn(5, "after all three came back")
	goesOn(6, "with three brokers")

	require.Equal(t, want.hash, score.Await("the end of the stream", trained).EnsembleHash)
	equalPredictions(t, want.predictions, d.predictions())
	require.Equal(t, want.slices, d.slices())
	verified(t, erasure, all...)
	build.AwaitPage("/readyz", "\nok")
	for _, s := range all {
		require.Zero(t, s.Stop(), s.Log())
	}
}

// erasedAfter is what the embedded broker gives for an erasure after a part of the stream.
func (l *lab) erasedAfter(t *testing.T, part int, erased string) outcome {
	t.Helper()
	d := &deployment{lab: l, t: t, prefix: "lethe."}
	s := process.Start(t, l.bin, filepath.Join(t.TempDir(), "data"), process.FreePorts(t), d.settings()...)
	d.brokers = s.Brokers
	d.replayParts(1, part)
	s.Await("a part of the stream", l.learnt(part))
	verified(t, d.erase("reference", erased), s)
	d.replayParts(part+1, 6)
	out := outcome{s.Await("the end of the stream", l.learnt(6)).EnsembleHash, d.predictions(), d.slices()}
	require.Zero(t, s.Stop(), s.Log())
	return out
}
