package kafka_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/configs"
	"lethe/deletions"
	"lethe/integration/process"
	"lethe/service"
)

// crowd are processes of all roles, some of each.
type crowd struct {
	*deployment
	root string
	all  map[string]*process.Service
	role map[string]string
}

// begin starts a process, in the folder that it had before.
func (c *crowd) begin(role, name string) {
	c.t.Helper()
	c.role[name] = role
	c.all[name] = c.as("lethe").process(filepath.Join(c.root, name), process.FreePorts(c.t), role)
}

// killed kills processes at once and starts them again.
func (c *crowd) killed(names ...string) {
	c.t.Helper()
	for _, name := range names {
		c.all[name].Kill()
	}
	for _, name := range names {
		c.begin(c.role[name], name)
	}
}

// await waits until one of the processes of a role has a status.
func (c *crowd) await(role, what string, want func(service.Status) bool) service.Status {
	c.t.Helper()
	for began := time.Now(); time.Since(began) < 3*time.Minute; time.Sleep(100 * time.Millisecond) {
		for name, s := range c.all {
			status, ok := s.Status()
			if ok && c.role[name] == role && want(status) {
				return status
			}
		}
	}
	for name, s := range c.all {
		c.t.Log(name, s.Log())
	}
	require.Fail(c.t, "waited in vain for "+what)
	return service.Status{}
}

// step replays a part of the stream and waits until the models have learnt from it.
func (c *crowd) step(part int) {
	c.t.Helper()
	c.as("producer").replayParts(part, part)
	c.await(configs.RoleScore, "part "+strconv.Itoa(part), c.learnt(part))
}

// Two processes play each role on three brokers. Every one of them is killed twice, one broker is
// killed and another one hangs for a minute, a process comes and another one goes for good, and a
// record is erased amid all that. In the end everything is as in one process that nothing happened
// to, and no process has ended by itself.
func TestProcessesAndBrokersOfThreeAreLost(t *testing.T) {
	three := newCluster(t)
	l := newRealLab(t)
	erased, _ := l.subjects(t)
	want := l.erasedAfter(t, 3, string(erased))
	d := l.outside(t)
	d.prepare()
	c := &crowd{d, t.TempDir(), make(map[string]*process.Service), make(map[string]string)}
	t.Cleanup(func() {
		if t.Failed() {
			for name, s := range c.all {
				t.Logf("what %s said:\n%s", name, s.Log())
			}
		}
	})
	ones, twos := []string{"build-1", "score-1", "train-1"}, []string{"build-2", "score-2", "train-2"}
	for i, role := range []string{configs.RoleBuild, configs.RoleScore, configs.RoleTrain} {
		c.begin(role, ones[i])
		c.begin(role, twos[i])
	}
	c.step(1)
	c.killed(ones...)
	c.step(2)
	c.killed(twos...)
	three.signal(1, syscall.SIGKILL)
	c.step(3)
	erasure := d.as("compliance").eraseWithin(2*erasureMax, "crowd", string(erased))
	c.await(configs.RoleBuild, "the models without the record", func(s service.Status) bool {
		return s.Erasures[deletions.Erased]+s.Erasures[deletions.Verified] == 1
	})
	three.restart(1)

	goOn, stalled := three.stall(2), time.Now()
	c.killed(ones...)
	c.step(4)
	c.begin(configs.RoleTrain, "train-3")
	c.killed(twos...)
	c.step(5)
	time.Sleep(time.Minute - time.Since(stalled))
	goOn()
	var services []*process.Service
	for _, s := range c.all {
		services = append(services, s)
	}
	t.Logf("all three brokers are there %.1f s after one began to hang", time.Since(stalled).Seconds())
	verified(t, erasure, services...)
	t.Logf("the erasure was verified %.1f s after it", time.Since(stalled).Seconds())
	c.all["score-1"].Kill()
	operator := d.as("lethe")
	flags := operator.membersFlags("strike", instanceOf(t, c.root, "score-1"), "--role", configs.RoleScore)
	struck := process.Run(t, l.bin, append(flags, operator.access...)...)
	require.Zero(t, struck.Code, struck.Stderr)
	delete(c.all, "score-1")
	c.step(6)

	require.Equal(t, want.hash, c.await(configs.RoleScore, "the end of the stream", l.learnt(6)).EnsembleHash)
	equalPredictions(t, want.predictions, d.predictions())
	require.Equal(t, want.slices, d.slices())
	c.onTheReceipt("crowd")
	for name, s := range c.all {
		require.Zero(t, s.Stop(), "%s: %s", name, s.Log())
	}
}

// onTheReceipt checks that a receipt names every data directory as searched, the one that led at the
// end among the places of its own.
func (c *crowd) onTheReceipt(requestID string) {
	c.t.Helper()
	searched := make(map[string][]string)
	for _, place := range c.receiptOf(filepath.Join(c.root, c.holder(requestID)), requestID).Searched {
		if place.Instance != "" {
			searched[place.Place] = append(searched[place.Place], place.Instance)
		}
	}
	of := func(names ...string) (out []string) {
		for _, name := range names {
			out = append(out, instanceOf(c.t, c.root, name))
		}
		slices.Sort(out)
		return out
	}
	require.Equal(c.t, of("score-1", "score-2"), searched[configs.RoleScore])
	require.Subset(c.t, searched[configs.RoleTrain], of("train-1", "train-2"))
	require.Len(c.t, searched[configs.RoleGraphs], 1)
	require.Subset(c.t, of("build-1", "build-2"), searched[configs.RoleGraphs])
}

// holder is a process that has issued, or fetched, a receipt.
func (c *crowd) holder(requestID string) (name string) {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		for _, name = range []string{"build-1", "build-2"} {
			path := filepath.Join(service.ReceiptsDir(filepath.Join(c.root, name)), requestID+".json")
			if _, err := os.Stat(path); err == nil {
				return true
			}
		}
		return false
	}, time.Minute, 100*time.Millisecond)
	return name
}
