package graphs

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

// crew are processes of the role, of which one leads.
type crew struct {
	*deployment
	group    *roletest.Group
	dirs     map[string]string
	receipts map[string]string
	roles    map[string]role.Role
	stops    map[string]func()
	// before is called before a process that leads writes to a topic, and after after it has.
	before, after hook
}

// hook is what a test has processes do, which run beside it: nothing unless it is set.
type hook struct {
	atomic.Pointer[func(ctx context.Context, name string, t bus.Topic) error]
}

func (h *hook) set(f func(ctx context.Context, name string, t bus.Topic) error) { h.Store(&f) }

// hangs has process one hang where it comes to a topic, and tells whether it does.
func (h *hook) hangs(topics ...bus.Topic) (reached *atomic.Bool) {
	reached = new(atomic.Bool)
	h.set(func(ctx context.Context, name string, t bus.Topic) error {
		if name != "one" || !slices.Contains(topics, t) {
			return nil
		}
		reached.Store(true)
		<-ctx.Done()
		return ctx.Err()
	})
	return reached
}

// of is the hook of one process.
func (h *hook) of(name string) func(context.Context, bus.Topic) error {
	return func(ctx context.Context, t bus.Topic) error {
		if f := h.Load(); f != nil {
			return (*f)(ctx, name, t)
		}
		return nil
	}
}

func newCrew(t *testing.T) *crew {
	return &crew{
		deployment: deploy(t), group: roletest.NewGroup(), dirs: make(map[string]string), receipts: make(map[string]string),
		roles: make(map[string]role.Role), stops: make(map[string]func()),
	}
}

// begin starts a process, in the folder that it had before.
func (c *crew) begin(name string) {
	c.Helper()
	if c.dirs[name] == "" {
		c.dirs[name], c.receipts[name] = c.TempDir(), c.TempDir()
	}
	record, err := wire.Member{Role: roleName, Identity: name, Run: "1"}.Record()
	require.NoError(c, err)
	c.send(bus.Control, record)
	o, handover := c.options(c.dirs[name]), new(Handover)
	o.Instance, o.Run, o.ReceiptsDir = name, "1", c.receipts[name]
	lead := role.NewLead(roleName, name, c.group.Member(name), time.Now, slog.New(slog.DiscardHandler))
	r, err := role.Hot(c.Context(), roleName, lead, func(ctx context.Context, as *role.Standing) (*role.Follower, error) {
		o := o
		if !as.StandsBy() {
			o.Bus = fencedBus{c.topics, as, c.before.of(name), c.after.of(name)}
		}
		return As(ctx, o, as, handover)
	})
	require.NoError(c, err)
	c.roles[name], c.stops[name] = r, c.start(r)
}

// fencedBus is a bus to which a process writes as long as it leads.
type fencedBus struct {
	*roletest.Bus
	as            *role.Standing
	before, after func(ctx context.Context, t bus.Topic) error
}

func (f fencedBus) Write(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error {
	if err := f.before(ctx, t); err != nil {
		return err
	}
	if err := f.as.Write(ctx, f.Bus, t, records); err != nil {
		return err
	}
	return f.after(ctx, t)
}

// twoProcesses are one that leads and one that stands by, both with two timesteps.
func twoProcesses(t *testing.T) *crew {
	t.Helper()
	c := newCrew(t)
	c.begin("one")
	c.begin("two")
	c.twoSteps()
	return c
}

// two steps are settled and closed, in the graphs of everybody.
func (c *crew) twoSteps() {
	c.Helper()
	c.fill(1)
	c.settle(1)
	c.fill(2)
	for name, r := range c.roles {
		c.until(r, name, twoSteps)
	}
	// Whoever stands by lags behind in none of what it does not read.
	for name, r := range c.roles {
		require.Equal(c, name != "one", slices.Contains(r.Status().LeftToLeader, bus.Erasures), name)
	}
}

func twoSteps(s *role.Status) bool { return s.Count(lethe.Settled) == 1 && s.Count(lethe.Closed) == 1 }

// inState reports whether the one request is in a state.
func inState(state deletions.State) func(*role.Status) bool {
	return func(s *role.Status) bool { return s.Erasures[state] == 1 }
}

func threeSteps(s *role.Status) bool {
	return s.Count(lethe.Settled) == 2 && s.Count(lethe.Closed) == 1
}
