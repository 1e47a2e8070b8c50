package supervisor_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"lethe/internal/leakcheck"
	"lethe/service/supervisor"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// journal notes what modules do, in order.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) add(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

// take returns the lines since the last call.
func (j *journal) take() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := j.lines
	j.lines = nil
	return out
}

// process fails when told to and otherwise runs until it is stopped.
type process struct {
	name    string
	journal *journal
	fail    chan error
	closing error
}

func (p *process) Run(ctx context.Context) error {
	select {
	case err := <-p.fail:
		p.journal.add("%s fails", p.name)
		return err
	case <-ctx.Done():
		p.journal.add("%s stops", p.name)
		return nil
	}
}

func (p *process) Close() error {
	p.journal.add("%s closes", p.name)
	return p.closing
}

// stack is a broker, topics on it, two roles on these and a server on both.
type stack struct {
	journal
	processes map[string]*process
	modules   []supervisor.Module
	// refuses makes a module's Open fail.
	refuses map[string]error
	states  journal
}

func newStack() *stack {
	s := &stack{processes: make(map[string]*process), refuses: make(map[string]error)}
	for _, m := range []supervisor.Module{
		{Name: "broker"},
		{Name: "topics", Needs: []string{"broker"}},
		{Name: "score", Needs: []string{"topics"}},
		{Name: "train", Needs: []string{"topics"}},
		{Name: "http", Needs: []string{"score", "train"}},
	} {
		p := &process{name: m.Name, journal: &s.journal, fail: make(chan error, 1)}
		s.processes[m.Name] = p
		m.Open = func(context.Context) (supervisor.Process, error) {
			s.add("%s opens", m.Name)
			return p, s.refuses[m.Name]
		}
		s.modules = append(s.modules, m)
	}
	return s
}

func (s *stack) supervisor() *supervisor.Supervisor {
	return supervisor.New(s.modules, func(module string, state supervisor.State) {
		s.states.add("%s %s", module, state)
	})
}

// Modules open in order; what needs others stops
// before them, though all are told at once; closing goes backwards.
func TestModulesOpenInOrderAndStopInReverse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStack()
		v := s.supervisor()
		require.NoError(t, v.Open(t.Context()))
		require.Equal(t, []string{"broker opens", "topics opens", "score opens", "train opens", "http opens"}, s.take())

		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- v.Run(ctx) }()
		synctest.Wait()
		require.Empty(t, s.take())
		cancel()
		require.NoError(t, <-ended)
		lines := s.take()
		require.Len(t, lines, 5)
		require.Equal(t, "http stops", lines[0])
		require.ElementsMatch(t, []string{"score stops", "train stops"}, lines[1:3])
		require.Equal(t, []string{"topics stops", "broker stops"}, lines[3:])

		require.NoError(t, v.Close())
		closed := []string{"http closes", "train closes", "score closes", "topics closes", "broker closes"}
		require.Equal(t, closed, s.take())
		require.Len(t, s.states.take(), 5, "each of five is running")
	})
}

// The first error ends all, and is the one that is returned, with its module.
func TestFirstErrorEndsAllAndIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, broken := newStack(), errors.New("store is full")
		v := s.supervisor()
		require.NoError(t, v.Open(t.Context()))
		ended := make(chan error, 1)
		go func() { ended <- v.Run(t.Context()) }()
		synctest.Wait()
		s.processes["train"].fail <- broken
		err := <-ended
		require.ErrorIs(t, err, broken)
		require.EqualError(t, err, "train: store is full")
		require.Contains(t, s.states.take(), "train failed")
		s.take()

		s.processes["http"].closing = errors.New("socket")
		s.processes["topics"].closing = errors.New("connection")
		require.EqualError(t, v.Close(), "close http: socket\nclose topics: connection")
		require.Len(t, s.take(), 5, "one that cannot be closed keeps no other open")
		require.NoError(t, v.Close(), "closing again does nothing")
	})
}

// A module that just ends has failed: the process would look healthy without it.
func TestEndingUnaskedIsAFailure(t *testing.T) {
	s := newStack()
	v := s.supervisor()
	require.NoError(t, v.Open(t.Context()))
	s.processes["score"].fail <- nil
	require.EqualError(t, v.Run(t.Context()), "score: ended before it was stopped")
	require.NoError(t, v.Close())
}

// What was opened before a refusal is closed, and what comes after stays shut.
func TestRefusedOpenClosesWhatIsOpen(t *testing.T) {
	s := newStack()
	s.refuses["score"] = errors.New("port is taken")
	v := s.supervisor()
	require.EqualError(t, v.Open(t.Context()), "port is taken")
	require.NoError(t, v.Close())
	require.Equal(t,
		[]string{"broker opens", "topics opens", "score opens", "topics closes", "broker closes"}, s.take())
}

func TestResourceIsThereUntilItIsClosed(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, supervisor.Resource(nil).Run(ctx))
	require.NoError(t, supervisor.Resource(nil).Close())
	closed := errors.New("closed")
	require.ErrorIs(t, supervisor.Resource(func() error { return closed }).Close(), closed)
}
