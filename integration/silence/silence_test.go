package silence_test

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"lethe/integration/process"
	"lethe/service/waiting"
)

// TestMain has the deployments run side by side: most of the time they wait.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "16"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(m.Run())
}

// promise is the time within which a stop is told, and no longer told once it is over.
const promise = time.Minute

// stop is something that stands still until somebody acts.
type stop struct {
	name  string
	cause waiting.Cause
	// says is a part of what must be told.
	says string
	// closed says that no traffic may come: /readyz is not ok.
	closed bool
	// provoke begins the stop, and returns what ends it.
	provoke func(d *deployment) (end func())
}

// slow leaves a test to make stops: stops last for as long as they may go unnoticed.
func slow(t *testing.T) {
	t.Helper()
	if os.Getenv("PROVOKE_STOPS") == "" {
		t.Skip("run make stops: it takes 3 minutes")
	}
}

// TestEveryStopIsTold provokes one stop after the other in a few deployments side by side.
func TestEveryStopIsTold(t *testing.T) {
	slow(t)
	bin := process.Build(t)
	receiver, signers := newReceiver(t), newSigners(t, bin)
	for _, group := range []struct {
		name     string
		dir      func(t *testing.T) string
		settings []string
		stops    []stop
	}{
		{"stream", (*testing.T).TempDir, impatient(), streamStops()},
		{"refused", (*testing.T).TempDir, impatient(), refusedStops()},
		{"late", (*testing.T).TempDir, impatient("ingest.late=dlq"), lateStops()},
		{"bounded", (*testing.T).TempDir, impatient("ingest.allowed_lateness_timesteps=100", "ingest.max_open_timesteps=6",
			"ingest.max_waiting=24"), boundedStops()},
		{"around", (*testing.T).TempDir, impatient(receiver.settings()...), aroundStops(receiver)},
		{"lasting", (*testing.T).TempDir, impatient(), lastingStops()},
		{"removed", (*testing.T).TempDir, impatient(), removedStops()},
		{"erasures", (*testing.T).TempDir, impatient("erasure.verify_timeout=2s"), erasureStops()},
		{"signed", (*testing.T).TempDir, impatient("signatures.keys_file="+signers.keys, "signatures.requests=2"),
			signedStops(signers)},
		{"disk", small, impatient(), diskStops()},
	} {
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			d := deploy(t, bin, group.dir(t), group.settings...)
			for _, s := range group.stops {
				t.Run(s.name, func(t *testing.T) {
					of := *d
					of.t = t
					of.holds(s)
					d.at, d.sent, d.ids = of.at, of.sent, of.ids
				})
			}
			d.logsOnceAMinute()
		})
	}
}

// impatient are settings under which a stop is told after seconds.
func impatient(more ...string) []string {
	return append([]string{"waiting.after=2s", "waiting.quiet=4s"}, more...)
}

// holds provokes a stop, and ends it.
func (d *deployment) holds(s stop) {
	d.t.Helper()
	began := time.Now()
	end := s.provoke(d)
	d.told(s)
	told := time.Since(began)
	if end == nil {
		return // nothing ends it but a new beginning
	}
	began = time.Now()
	end()
	d.over(s)
	d.t.Logf("%-45s %-18s told after %4.1f s, over after %4.1f s", s.name, s.cause, told.Seconds(),
		time.Since(began).Seconds())
}
