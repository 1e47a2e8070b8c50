package several_test

import (
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/deletions"
	"lethe/ingest/embedded"
	"lethe/integration/process"
	"lethe/service"
)

// A broker in a process of its own is this program, started again with these.
const (
	brokerDir  = "LETHE_TEST_BROKER_DIR"
	brokerPort = "LETHE_TEST_BROKER_PORT"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(brokerDir); dir != "" {
		beBroker(dir)
		return
	}
	os.Exit(m.Run())
}

// beBroker runs until it is killed.
func beBroker(dir string) {
	c := embedded.Defaults()
	port, err := strconv.Atoi(os.Getenv(brokerPort))
	if err != nil {
		panic(err)
	}
	c.Port, c.CleanInterval = port, 200*time.Millisecond
	if _, err := embedded.Start(dir, c, slog.New(slog.DiscardHandler)); err != nil {
		panic(err)
	}
	select {}
}

// brokerProcess is a broker that no role depends on for its life.
type brokerProcess struct {
	t    *testing.T
	dir  string
	port int
	cmd  *exec.Cmd
}

func startBroker(t *testing.T) *brokerProcess {
	t.Helper()
	b := &brokerProcess{t: t, dir: t.TempDir(), port: process.FreePorts(t).Kafka}
	b.start()
	return b
}

func (b *brokerProcess) address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(b.port)) }

func (b *brokerProcess) start() {
	b.t.Helper()
	b.cmd = exec.Command(os.Args[0])
	b.cmd.Env = append(os.Environ(), brokerDir+"="+b.dir, brokerPort+"="+strconv.Itoa(b.port))
	b.cmd.Stderr = os.Stderr
	require.NoError(b.t, b.cmd.Start())
	b.t.Cleanup(b.kill)
}

func (b *brokerProcess) kill() {
	b.cmd.Process.Kill()
	b.cmd.Wait()
}

func (b *brokerProcess) signal(which syscall.Signal) {
	b.t.Helper()
	require.NoError(b.t, b.cmd.Process.Signal(which))
}

// beside starts the roles on a broker of another process.
func (d *deployment) beside(b *brokerProcess) {
	d.t.Helper()
	d.build = process.LaunchOutside(d.t, d.bin, filepath.Join(d.dir, roleBuild), d.ports, b.address(),
		d.args(roleBuild, d.secret)...)
	d.scores = d.launch(roleScore, roleScore, d.secret)
	d.training = d.launch(roleTrain, roleTrain, d.secret)
	for _, s := range []*process.Service{d.build, d.scores, d.training} {
		s.AwaitPage("/readyz", "broker: ok")
	}
}

// away waits until every process says that the broker is away.
func (d *deployment) away() {
	d.t.Helper()
	for _, s := range []*process.Service{d.build, d.scores, d.training} {
		s.AwaitPage("/readyz", "broker: not ok")
	}
}

// The broker hangs, and later dies, while an erasure is carried out: the request stays
// where it is, what is served stays what it was, and the request is finished once the
// broker is back.
func TestABrokerThatIsAwayDuringAnErasure(t *testing.T) {
	t.Parallel()
	d, b := newDeployment(t), startBroker(t)
	d.beside(b)
	d.replay("1-4", steps)
	served := func() string {
		return d.scores.Await("its status", func(s service.Status) bool { return true }).EnsembleHash
	}
	counts := func() map[deletions.State]int {
		return d.build.Await("its status", func(s service.Status) bool { return true }).Erasures
	}

	// It hangs before the shards are trained again.
	before := served()
	d.training.Pause()
	submitted := process.Run(t, d.bin, "erase", "submit", "--node", firstNode(t, d), "--request-id", "gdpr-1",
		"--brokers", b.address())
	require.Zero(t, submitted.Code, submitted.Stderr)
	d.build.Await("graphs without it", func(s service.Status) bool { return s.Erasures[deletions.Retraining] == 1 })
	b.signal(syscall.SIGSTOP)
	d.training.Resume()
	d.away()
	d.statusAnswers(d.build) // which asks brokers how far they are
	time.Sleep(5 * time.Second)
	require.Equal(t, 1, counts()[deletions.Retraining])
	require.Equal(t, before, served())
	b.signal(syscall.SIGCONT)
	d.ends("gdpr-1")
	require.NotEqual(t, before, served())
	require.Equal(t, d.receipt("gdpr-1").EnsembleAfter.String(), served())

	// It dies while everything is searched, which does not end as long as a copy is there.
	planted := filepath.Join(d.dir, roleTrain, "copy.bak")
	node := secondNode(t, d)
	require.NoError(t, os.WriteFile(planted, []byte(node), 0o600))
	submitted = process.Run(t, d.bin, "erase", "submit", "--node", node, "--request-id", "gdpr-2",
		"--brokers", b.address())
	require.Zero(t, submitted.Code, submitted.Stderr)
	d.build.Await("the end of a search", func(s service.Status) bool {
		return s.Erasures[deletions.Failed]+s.Erasures[deletions.Erased] == 1
	})
	b.kill()
	d.away()
	swapped := served()
	require.NoError(t, os.Remove(planted))
	time.Sleep(3 * time.Second)
	require.Equal(t, 1, counts()[deletions.Verified], "nobody could be told of the second one")
	require.Equal(t, swapped, served())
	b.start()
	d.ends("gdpr-2")
	require.Equal(t, d.receipt("gdpr-2").EnsembleAfter.String(), served())
}

// ends waits until a request is verified.
func (d *deployment) ends(id string) {
	d.t.Helper()
	require.Eventually(d.t, func() bool {
		r := process.Run(d.t, d.bin, "erase", "status", id, "--json", "--brokers", d.build.Brokers)
		return r.Code == 0 && stateIn(d.t, r.Stdout) == deletions.Verified
	}, 2*time.Minute, 200*time.Millisecond, "%s", d.build.Log())
}
