package several_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/integration/process"
	"lethe/service"
)

const (
	steps        = 4
	nodesPerStep = 60
	roleBuild    = "build"
	roleTrain    = "train"
	roleScore    = "score"
)

// deployment has the embedded broker in the process that builds the graphs.
type deployment struct {
	t                       *testing.T
	bin, dir, secret        string
	ports                   process.Ports
	build, training, scores *process.Service
}

func newDeployment(t *testing.T) *deployment {
	t.Helper()
	d := &deployment{t: t, bin: process.Build(t), dir: t.TempDir(), ports: process.FreePorts(t)}
	d.secret = process.WriteFile(t, "secret", "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a\n")
	generated := process.Run(t, d.bin, "generate", "--out", filepath.Join(d.dir, "stream"),
		"--steps", "4", "--nodes-per-step", "60", "--features", "8", "--seed", "3")
	require.Zero(t, generated.Code, generated.Stderr)
	return d
}

// args are those of a process with a role and a data directory of its own.
func (d *deployment) args(role, secret string, more ...string) []string {
	args := []string{"--roles", role}
	for _, set := range []string{
		"kafka.partitions=2", "partition.shards=4", "trainer.hidden=8", "trainer.passes=1",
		"trainer.components=elliptic-gin,trees:2,logistic:2", "secret_file=" + secret,
	} {
		args = append(args, "--set", set)
	}
	return append(args, more...)
}

// host starts the process that builds the graphs and holds the broker.
func (d *deployment) host() *process.Service {
	d.t.Helper()
	d.build = process.Start(d.t, d.bin, filepath.Join(d.dir, roleBuild), d.ports, d.args(roleBuild, d.secret)...)
	return d.build
}

// launch starts another process on the broker, without waiting for it.
func (d *deployment) launch(role, dir, secret string, more ...string) *process.Service {
	d.t.Helper()
	args := append([]string{"--brokers", d.build.Brokers}, d.args(role, secret, more...)...)
	return process.Launch(d.t, d.bin, filepath.Join(d.dir, dir), process.FreePorts(d.t), args...)
}

// replay publishes some timesteps and waits until the models have learnt from them.
func (d *deployment) replay(which string, last int) {
	d.t.Helper()
	sent := process.Run(d.t, d.bin, "replay", "--dataset", filepath.Join(d.dir, "stream"),
		"--brokers", d.build.Brokers, "--steps", which)
	require.Zero(d.t, sent.Code, sent.Stderr)
	d.scores.Await("training", func(s service.Status) bool { return int(s.TrainedThrough) == last })
}

// erase waits until an erasure is verified.
func (d *deployment) erase(id, node string) process.Result {
	d.t.Helper()
	return process.Run(d.t, d.bin, "erase", "submit", "--node", node, "--request-id", id, "--wait", "--json",
		"--brokers", d.build.Brokers)
}

// The process with the broker hangs for longer than every timeout of the
// others. They wait, say so within seconds, and go on.
func TestABrokerThatHangsIsWaitedFor(t *testing.T) {
	t.Parallel()
	d := newDeployment(t)
	d.host()
	d.scores = d.launch(roleScore, roleScore, d.secret)
	d.training = d.launch(roleTrain, roleTrain, d.secret)
	d.replay("1-2", 2)
	d.build.Pause()
	began := time.Now()
	for _, s := range []*process.Service{d.scores, d.training} {
		s.AwaitPage("/readyz", "broker: not ok")
	}
	require.Less(t, time.Since(began), 15*time.Second)
	d.statusAnswers(d.scores)
	time.Sleep(hangs - time.Since(began))
	d.build.Resume()
	for _, s := range []*process.Service{d.scores, d.training} {
		s.AwaitPage("/readyz", "broker: ok")
	}
	d.replay("3-4", steps)
	require.True(t, d.training.Running())
}

// statusAnswers asks for the status 200 times at once: each is answered within a second
// though the broker hangs, and nothing is left of the calls.
func (d *deployment) statusAnswers(s *process.Service) {
	d.t.Helper()
	before := goroutines(d.t, s)
	var calls sync.WaitGroup
	for range 200 {
		calls.Go(func() {
			began := time.Now()
			if _, ok := s.Status(); !ok || time.Since(began) > 3*time.Second { // a busy machine
				d.t.Errorf("no status after %s", time.Since(began))
			}
		})
	}
	calls.Wait()
	began := time.Now()
	_, ok := s.Status()
	require.True(d.t, ok)
	require.Less(d.t, time.Since(began), time.Second)
	// Connections of callers that have gone take a moment.
	require.Eventually(d.t, func() bool { return goroutines(d.t, s) < before+20 }, 10*time.Second, 100*time.Millisecond)
}

// goroutines is how many a service has, as its metrics say.
func goroutines(t *testing.T, s *process.Service) int {
	t.Helper()
	_, after, found := strings.Cut(s.Page("/metrics"), "\ngo_goroutines ")
	require.True(t, found)
	text, _, _ := strings.Cut(after, "\n")
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// hangs is longer than a write may take to a client that is not patient.
const hangs = 35 * time.Second

// Each role with a secret of its own would search with its own fingerprints and
// find nothing. Whoever begins first, none goes on beside the graphs' secret.
func TestRolesWithOtherSecretsStop(t *testing.T) {
	t.Parallel()
	d := newDeployment(t)
	d.host()
	other := func(role string) *process.Service {
		secret := filepath.Join(d.dir, role+"-secret")
		return d.launch(role, role+"-other", secret)
	}
	for _, role := range []string{roleTrain, roleScore} {
		s := other(role)
		require.Equal(t, 1, s.AwaitEnd())
		require.Regexp(t, `^lethe: processes that share topics must share settings: secret_file is key .*`, s.LastLine())
		require.LessOrEqual(t, strings.Count(s.Log(), "did not write"), 1, "not a line for every record:\n%s", s.Log())
	}
	// They begin while nobody says what the graphs' secret is.
	d.build.Kill()
	waiting := []*process.Service{other(roleTrain), other(roleScore)}
	for _, s := range waiting {
		s.AwaitPage("/readyz", "broker: not ok")
	}
	d.host()
	for _, s := range waiting {
		require.Equal(t, 1, s.AwaitEnd())
		require.Contains(t, s.LastLine(), "secret_file is key ")
	}
}
