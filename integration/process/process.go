// Package process runs the real lethe binary for the integration tests: it
// builds it, runs commands to their end, and starts services that can be killed
// at any time.
package process

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/service"
)

// Result is what a command left.
type Result struct {
	Stdout, Stderr string
	Code           int
}

// Run runs a command to its end.
func Run(t testing.TB, bin string, args ...string) Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	c := exec.CommandContext(ctx, bin, args...)
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return Result{stdout.String(), stderr.String(), c.ProcessState.ExitCode()}
}

// Service is a lethe run that is up.
type Service struct {
	t       testing.TB
	cmd     *exec.Cmd
	log     *lockedBuffer
	URL     string
	Brokers string
	ended   chan struct{}
}

// Ports are those of a service that is started again and again.
type Ports struct{ HTTP, Kafka int }

// FreePorts picks two ports that nobody uses now.
func FreePorts(t testing.TB) Ports {
	t.Helper()
	return Ports{FreePortsInRow(t, 1), FreePortsInRow(t, 1)}
}

// FreePortsInRow picks the first of some ports in a row that nobody uses now, and no other test until this one ends. It
// looks below the ports that systems give to outgoing connections, and below those of the brokers that
// integration/kafka/kafka.sh starts: such a port would be taken while a killed service, or broker, is down.
func FreePortsInRow(t testing.TB, count int) int {
	t.Helper()
	const first, from = 20_000, 9_000
	for range 100 {
		if port := first + rand.IntN(from-count); claim(t, port, count) {
			return port
		}
	}
	t.Fatal("no free port found")
	return 0
}

// claim reports whether ports in a row are free, and keeps them for a test: those of UDP, which nothing else uses, mark
// them for tests of all processes.
func claim(t testing.TB, port, count int) bool {
	var marks []net.PacketConn
	release := func() {
		for _, mark := range marks {
			mark.Close() //nolint:errcheck // nothing was written
		}
	}
	for i := range count {
		at := net.JoinHostPort("127.0.0.1", strconv.Itoa(port+i))
		mark, err := net.ListenPacket("udp", at)
		if err != nil {
			release()
			return false
		}
		marks = append(marks, mark)
		l, err := net.Listen("tcp", at)
		if err != nil {
			release()
			return false
		}
		l.Close() //nolint:errcheck // nothing was accepted
	}
	t.Cleanup(release)
	return true
}

// Start starts lethe run with a data directory and ports, and waits until it is
// ready. It is killed at the end of the test at the latest.
func Start(t testing.TB, bin, dataDir string, ports Ports, args ...string) *Service {
	t.Helper()
	s := Launch(t, bin, dataDir, ports, args...)
	s.await("ready", func() bool { return s.get("/readyz", nil) })
	return s
}

// Launch is Start without the waiting, for services that are killed while they
// are still starting.
func Launch(t testing.TB, bin, dataDir string, ports Ports, args ...string) *Service {
	t.Helper()
	http := net.JoinHostPort("127.0.0.1", strconv.Itoa(ports.HTTP))
	args = append([]string{
		"run", "--data-dir", dataDir, "--http-address", http, "--set", "embedded.port=" + strconv.Itoa(ports.Kafka),
	}, args...)
	s := &Service{
		t: t, cmd: exec.Command(bin, args...), log: &lockedBuffer{}, URL: "http://" + http,
		Brokers: net.JoinHostPort("127.0.0.1", strconv.Itoa(ports.Kafka)), ended: make(chan struct{}),
	}
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	require.NoError(t, s.cmd.Start())
	go func() {
		s.cmd.Wait() //nolint:errcheck // a killed process has no good end
		close(s.ended)
	}()
	t.Cleanup(s.Kill)
	return s
}

// PID is the id of the service's process.
func (s *Service) PID() int { return s.cmd.Process.Pid }

// Kill ends the service with SIGKILL and waits for its end.
func (s *Service) Kill() {
	s.cmd.Process.Kill() //nolint:errcheck // it may have ended already
	<-s.ended
}

// Crash is Kill for a service that must still be running: one that has ended by
// itself fails the test.
func (s *Service) Crash() {
	s.t.Helper()
	select {
	case <-s.ended:
		s.t.Fatalf("the service ended by itself:\n%s", s.Log())
	default:
		s.Kill()
	}
}

// Stop ends the service with SIGTERM and returns its exit status.
func (s *Service) Stop() int {
	s.t.Helper()
	require.NoError(s.t, s.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case <-s.ended:
	case <-time.After(30 * time.Second):
		s.t.Fatalf("the service does not stop:\n%s", s.Log())
	}
	return s.cmd.ProcessState.ExitCode()
}

// Log is everything the service wrote so far.
func (s *Service) Log() string { return s.log.String() }

// Status asks the service for its state; ok is false while it does not answer.
func (s *Service) Status() (status service.Status, ok bool) {
	ok = s.get("/api/v1/status", &status)
	return status, ok
}

// Await polls the status until it is as wanted.
func (s *Service) Await(what string, want func(service.Status) bool) service.Status {
	s.t.Helper()
	var last service.Status
	s.await(what, func() bool {
		status, ok := s.Status()
		last = status
		return ok && want(status)
	})
	return last
}

func (s *Service) await(what string, done func() bool) {
	s.t.Helper()
	deadline := time.Now().Add(4 * time.Minute)
	for !done() {
		select {
		case <-s.ended:
			if done() { // It may have ended since it was asked.
				return
			}
			s.t.Fatalf("waiting for %s: the service ended:\n%s", what, s.Log())
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("waiting for %s: not in four minutes:\n%s", what, s.Log())
		}
	}
}

// AwaitLog waits until the log holds a text.
func (s *Service) AwaitLog(text string) {
	s.t.Helper()
	s.await(text, func() bool { return strings.Contains(s.Log(), text) })
}

// AwaitPage waits until a page, whatever its status, holds a text.
func (s *Service) AwaitPage(path, text string) {
	s.t.Helper()
	s.await(path+" to say "+text, func() bool { return s.says(path, text) })
}

// AwaitPageOrEnd is AwaitPage for a service that may end by itself before, which it
// reports with false.
func (s *Service) AwaitPageOrEnd(path, text string) bool {
	s.t.Helper()
	said := false
	s.await(path+" to say "+text, func() bool {
		said = s.says(path, text)
		return said || !s.Running()
	})
	return said
}

// says reports whether a page, whatever its status, holds a text.
func (s *Service) says(path, text string) bool { return strings.Contains(s.Page(path), text) }

// Page is a page, whatever its status, or empty if there is no answer.
func (s *Service) Page(path string) string {
	client := http.Client{Timeout: 5 * time.Second}
	response, err := client.Get(s.URL + path)
	if err != nil {
		return ""
	}
	defer response.Body.Close() //nolint:errcheck // nothing depends on it
	page, err := io.ReadAll(response.Body)
	if err != nil {
		return ""
	}
	return string(page)
}

// get asks for a path and decodes the answer, if into is not nil.
func (s *Service) get(path string, into any) bool {
	client := http.Client{Timeout: 5 * time.Second}
	response, err := client.Get(s.URL + path)
	if err != nil {
		return false
	}
	defer response.Body.Close() //nolint:errcheck // nothing depends on it
	if response.StatusCode != http.StatusOK {
		return false
	}
	return into == nil || json.NewDecoder(response.Body).Decode(into) == nil
}

// WriteFile writes a file of the test's own folder and returns its path.
func WriteFile(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// lockedBuffer collects output that is read while it is written.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
