package process

import (
	"strings"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"
)

// AwaitEnd waits until the service has ended by itself and returns its exit
// status.
func (s *Service) AwaitEnd() int {
	s.t.Helper()
	select {
	case <-s.ended:
	case <-time.After(time.Minute):
		s.t.Fatalf("the service does not end:\n%s", s.Log())
	}
	return s.cmd.ProcessState.ExitCode()
}

// Pause stops the service as a machine that hangs does; nothing of it is closed.
func (s *Service) Pause() { s.signal(syscall.SIGSTOP) }

// Resume lets a paused service go on.
func (s *Service) Resume() { s.signal(syscall.SIGCONT) }

func (s *Service) signal(which syscall.Signal) {
	s.t.Helper()
	require.NoError(s.t, s.cmd.Process.Signal(which))
}

// Running reports whether the service has not ended.
func (s *Service) Running() bool {
	select {
	case <-s.ended:
		return false
	default:
		return true
	}
}

// LastLine is the last line that the service wrote.
func (s *Service) LastLine() string {
	lines := strings.Split(strings.TrimSpace(s.Log()), "\n")
	return lines[len(lines)-1]
}
