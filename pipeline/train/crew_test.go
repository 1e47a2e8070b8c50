package train

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/metrics/events"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

// crew are processes that train together, fed one thing at a time.
type crew struct {
	t      *testing.T
	topics *roletest.Bus
	mates  map[string]*mate
}

type mate struct {
	*heard
	logic   *logic
	role    *role.Follower
	session *roletest.Session
}

func newCrew(t *testing.T) *crew {
	return &crew{t: t, topics: topics(), mates: make(map[string]*mate)}
}

// trainedByOne has one process of a crew train three timesteps of every shard, all of which are its own.
func trainedByOne(t *testing.T) (*crew, []plan) {
	t.Helper()
	c, plans := newCrew(t), plansOf(3)
	c.join("one", nil)
	c.assign("one", 1, 0, 1)
	publishAll(t, c.topics, plans)
	c.run("one")
	return c, plans
}

// neverShares stands where the group is told by hand.
type neverShares struct{}

// join begins a process on a directory, which has said that it is a member.
func (c *crew) join(name string, change func(*Options)) *mate {
	c.t.Helper()
	record, err := wire.Member{Role: roleName, Identity: name, Run: "1"}.Record()
	require.NoError(c.t, err)
	require.NoError(c.t, c.topics.Write(c.t.Context(), bus.Control, []ingest.Outgoing{record}))
	return c.begin(name, c.t.TempDir(), change)
}

func (c *crew) begin(name, dir string, change func(*Options)) *mate {
	c.t.Helper()
	o := optionsFor(dir, c.topics)
	if change != nil {
		change(&o)
	}
	m := &mate{heard: new(heard)}
	o.Instance, o.Sharer, o.Workers, o.Dir = name, neverShares{}, 1, dir
	o.Listener = events.Tee(m.listener())
	var err error
	m.logic, err = open(o)
	require.NoError(c.t, err)
	m.role = role.Follow(roleName, m.logic, m.logic.o.Surroundings)
	m.session, err = roletest.Begin(c.t.Context(), m.role)
	require.NoError(c.t, err)
	c.mates[name] = m
	c.t.Cleanup(func() { c.leave(name) })
	return m
}

// leave ends a process, as a kill does.
func (c *crew) leave(name string) {
	if m := c.mates[name]; m != nil {
		delete(c.mates, name)
		require.NoError(c.t, m.session.Close())
		require.NoError(c.t, m.role.Close())
	}
}

// assign tells a process which partitions are its.
func (c *crew) assign(name string, generation int64, partitions ...int) {
	c.t.Helper()
	a := bus.Assigned{Generation: generation, Partitions: partitions}
	require.NoError(c.t, c.mates[name].logic.share.setAssignment(c.t.Context(), &a))
}

// run lets the processes of these names work until none has anything to do.
func (c *crew) run(names ...string) {
	c.t.Helper()
	for progress := true; progress; {
		progress = false
		for _, name := range names {
			more, err := c.mates[name].session.Poll(c.t.Context())
			require.NoError(c.t, err)
			progress = progress || more
		}
	}
	for range patientTicks {
		for _, name := range names {
			require.NoError(c.t, c.mates[name].session.Tick(c.t.Context()))
			_, err := c.mates[name].session.Poll(c.t.Context())
			require.NoError(c.t, err)
		}
	}
}

// trainedBy counts what a process has trained.
func (m *mate) steps() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.trained)
}

// answered are the instances that acknowledged a step.
func answered(t testing.TB, topics *roletest.Bus, step deletions.Step) (who []string) {
	t.Helper()
	for _, n := range roletest.Notices(t, topics) {
		if n.Ack != nil && n.Ack.Step == step {
			who = append(who, n.Ack.Instance)
		}
	}
	return who
}
