package silence_test

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest/embedded"
	"lethe/integration/process"
	"lethe/service/waiting"
)

// cluster is a process with the broker and the graphs, and others that train, score and answer.
type cluster struct {
	host, train, score, view *deployment
	// start starts the process of a role, with a broker of its own without brokers.
	start func(role, brokers string) *deployment
}

// newCluster returns one whose processes are to be started.
func newCluster(t *testing.T, bin string) *cluster {
	t.Helper()
	secret := process.WriteFile(t, "secret", strings.Repeat("5a", 32)+"\n")
	dir := t.TempDir()
	return &cluster{start: func(role, brokers string) *deployment {
		d := &deployment{
			t: t, bin: bin, dir: filepath.Join(dir, role), ports: process.FreePorts(t),
			ids:  make(map[int]lethe.TransactionID),
			args: append(settingsOf(impatient("secret_file="+secret)...), "--set", "roles="+role),
		}
		if brokers != "" {
			d.args = append(d.args, "--brokers", brokers)
		}
		d.Service = process.Start(t, bin, d.dir, d.ports, d.args...)
		return d
	}}
}

// deployRoles starts the processes, and sends two timesteps that settle.
func deployRoles(t *testing.T, bin string) *cluster {
	t.Helper()
	c := newCluster(t, bin)
	c.host = c.start("build", "")
	brokers := c.host.Brokers
	c.train, c.score, c.view = c.start("train", brokers), c.start("score", brokers), c.start("view", brokers)
	c.host.begin()
	return c
}

// pause has a process hang.
func pause(which *deployment) func(*deployment) func() {
	return func(*deployment) func() {
		which.Pause()
		return which.Resume
	}
}

// kill ends a process at once.
func kill(which *deployment) func(*deployment) func() {
	return func(*deployment) func() {
		which.Kill()
		return which.again
	}
}

// again starts a process that has ended.
func (d *deployment) again() {
	d.t.Helper()
	*d.Service = *process.Start(d.t, d.bin, d.dir, d.ports, d.args...)
}

// TestProcessesThatHangOrAreGone stops one process after the other, and looks at another one.
func TestProcessesThatHangOrAreGone(t *testing.T) {
	slow(t)
	t.Parallel()
	c := deployRoles(t, process.Build(t))
	for _, s := range []stop{
		{"train hangs", waiting.ProcessMissing, "share the role train, 0 have", false, pause(c.train)},
		{"train is gone", waiting.ProcessMissing, "share the role train, 0 have", false, kill(c.train)},
		{"score hangs", waiting.ProcessMissing, "share the role score, 0 have", false, pause(c.score)},
		{"score is gone", waiting.ProcessMissing, "share the role score, 0 have", false, kill(c.score)},
		{"an erasure waits for train", waiting.ErasureUnanswered, "of role train", false, func(d *deployment) func() {
			c.train.Kill()
			d.run("erase", "submit", "--node", string(d.id(1)), "--request-id", "r1")
			return c.train.again
		}},
		{"an erasure waits for view", waiting.ErasureUnanswered, "of role view", false, func(d *deployment) func() {
			c.view.Kill()
			d.run("erase", "submit", "--node", string(d.id(2)), "--request-id", "r2")
			return c.view.again
		}},
	} {
		c.host.holds(s)
	}
	c.train.holds(stop{"the broker hangs", waiting.BrokersAway, "cannot be read or written", true, pause(c.host)})
	c.score.holds(stop{"the broker is gone", waiting.BrokersAway, "cannot be read or written", true, kill(c.host)})
	c.viewHangs(t)
	c.host.logsOnceAMinute()
}

// TestTopicsThatAreDeleted deletes a topic of brokers that allow it.
func TestTopicsThatAreDeleted(t *testing.T) {
	slow(t)
	t.Parallel()
	settings := embedded.Config{DeleteTopics: true, CleanOnDemand: true}
	broker, err := embedded.Start(t.TempDir(), settings, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, broker.Close()) })
	brokers := broker.Config().Brokers[0]
	d := &deployment{
		t: t, bin: process.Build(t), dir: filepath.Join(t.TempDir(), "data"), ports: process.FreePorts(t),
		ids: make(map[int]lethe.TransactionID),
	}
	d.args = append(settingsOf(impatient()...), "--brokers", brokers)
	d.Service = process.Start(t, d.bin, d.dir, d.ports, d.args...)
	d.Brokers = brokers
	d.begin()
	for _, s := range deletedStops() {
		d.holds(s)
	}
	d.logsOnceAMinute()
}

// TestRolesThatNobodyPlays starts a process that builds graphs, and no other; then those that train and score.
func TestRolesThatNobodyPlays(t *testing.T) {
	slow(t)
	t.Parallel()
	c := newCluster(t, process.Build(t))
	c.host = c.start("build", "")
	c.host.begin()
	c.host.holds(stop{"train was never started", waiting.ProcessMissing, "ever played the role train", false,
		func(d *deployment) func() { return func() { c.start("train", d.Brokers) } }})
	c.host.holds(stop{"score was never started", waiting.ProcessMissing, "ever played the role score", false,
		func(d *deployment) func() { return func() { c.start("score", d.Brokers) } }})
}

// viewHangs has the process hang that nobody else waits for: nothing answers there.
func (c *cluster) viewHangs(t *testing.T) {
	c.view.Pause()
	defer c.view.Resume()
	found := c.view.doctor()
	require.Equal(t, 1, found.Code, found.Stdout)
	require.Contains(t, found.Stdout, "does not answer")
	require.Contains(t, alertExpression(t, "LetheAbsent"), `up{job="lethe"} == 0`)
	require.Equal(t, "max by (instance, cause) (lethe_waiting) > 0", alertExpression(t, "LetheWaits"))
}
