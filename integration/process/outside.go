package process

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// StartOutside is Start with brokers that run elsewhere, as host:port, separated
// by commas, instead of the embedded broker.
func StartOutside(t testing.TB, bin, dataDir string, ports Ports, brokers string, args ...string) *Service {
	t.Helper()
	s := LaunchOutside(t, bin, dataDir, ports, brokers, args...)
	s.await("ready", func() bool { return s.get("/readyz", nil) })
	return s
}

// LaunchOutside is StartOutside without the waiting.
func LaunchOutside(t testing.TB, bin, dataDir string, ports Ports, brokers string, args ...string) *Service {
	t.Helper()
	s := Launch(t, bin, dataDir, ports, append([]string{"--brokers", brokers}, args...)...)
	s.Brokers = brokers
	return s
}

// Background is a command that runs while the test goes on.
type Background struct {
	t              testing.TB
	stdout, stderr bytes.Buffer
	ended          chan error
	cmd            *exec.Cmd
}

// Go starts a command and returns at once. It is killed when the limit is over,
// or at the end of the test.
func Go(t testing.TB, limit time.Duration, bin string, args ...string) *Background {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	b := &Background{t: t, ended: make(chan error, 1), cmd: exec.CommandContext(ctx, bin, args...)}
	b.cmd.Stdout, b.cmd.Stderr = &b.stdout, &b.stderr
	require.NoError(t, b.cmd.Start())
	go func() {
		defer cancel()
		b.ended <- b.cmd.Wait()
	}()
	return b
}

// Wait waits for the command's end. Call it once. The test fails at once if one
// of the services, on which the command depends, ends before it.
func (b *Background) Wait(services ...*Service) Result {
	b.t.Helper()
	done, fallen := make(chan struct{}), make(chan *Service)
	defer close(done)
	for _, s := range services {
		go func() {
			select {
			case <-s.ended:
				select {
				case fallen <- s:
				case <-done:
				}
			case <-done:
			}
		}()
	}
	select {
	case s := <-fallen:
		b.t.Fatalf("a service ended while a command waited for it:\n%s", s.Log())
	case err := <-b.ended:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			require.NoError(b.t, err)
		}
	}
	return Result{b.stdout.String(), b.stderr.String(), b.cmd.ProcessState.ExitCode()}
}
