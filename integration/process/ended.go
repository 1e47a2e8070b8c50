package process

import (
	"fmt"
	"os"
	"strconv"
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

// PeakBytes is the most memory that the service has had.
func (s *Service) PeakBytes() int64 {
	s.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	require.NoError(s.t, err)
	_, after, found := strings.Cut(string(text), "VmHWM:")
	require.True(s.t, found)
	kilobytes, err := strconv.ParseInt(strings.Fields(after)[0], 10, 64)
	require.NoError(s.t, err)
	return kilobytes << 10
}
