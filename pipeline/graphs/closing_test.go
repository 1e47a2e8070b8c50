package graphs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

// closingRole is the role, whose work beside the loop is done when a test says so.
type closingRole struct {
	*deployment
	role    *role.Follower
	session *roletest.Session
	due     []func()
}

func (d *deployment) closing() *closingRole {
	d.window = time.Nanosecond
	c := &closingRole{deployment: d}
	o := d.options(d.TempDir())
	o.Beside = func(work func()) { c.due = append(c.due, work) }
	var err error
	c.role, err = New(d.Context(), o)
	require.NoError(d, err)
	c.session, err = roletest.Begin(d.Context(), c.role)
	require.NoError(d, err)
	d.Cleanup(func() {
		for len(c.due) > 0 {
			c.next()
		}
		require.NoError(d, c.session.Close())
		require.NoError(d, c.role.Close())
	})
	return c
}

// poll has the role take all that is there.
func (c *closingRole) poll() {
	c.Helper()
	for had := true; had; {
		var err error
		had, err = c.session.Poll(c.Context())
		require.NoError(c, err)
	}
}

// work does the next work beside the loop, and the role steps then.
func (c *closingRole) work() {
	c.Helper()
	c.next()
	require.NoError(c, c.session.Tick(c.Context()))
}

// workAll does all work beside the loop.
func (c *closingRole) workAll() {
	c.Helper()
	for len(c.due) > 0 {
		c.work()
	}
}

func (c *closingRole) next() {
	c.Helper()
	require.NotEmpty(c, c.due)
	work := c.due[0]
	c.due = c.due[1:]
	work()
}

// graph is the graph of a timestep as it was published last, nil if it was not.
func (c *closingRole) graph(at lethe.Timestep) *lethe.Snapshot {
	c.Helper()
	messages, _ := c.published(bus.Snapshots)
	m, found := messages[wire.Key{Kind: wire.KindSnapshot, Timestep: at}]
	if !found {
		return nil
	}
	g, err := canonical.DecodeSnapshot(m.Payload)
	require.NoError(c, err)
	return g
}

// The loop takes records while a graph is made and while it is sent; the timestep counts as closed once it was.
func TestRecordsAreTakenWhileATimestepCloses(t *testing.T) {
	c := deploy(t).closing()
	c.fill(1)
	c.poll()
	require.Len(t, c.due, 1, "its graph is to be made")
	c.fill(2)
	c.poll()
	require.Equal(t, 14, c.role.Status().Transactions())
	require.Zero(t, c.role.Status().Count(lethe.Closed))
	require.Nil(t, c.graph(1))
	c.work()
	require.Nil(t, c.graph(1))
	require.Zero(t, c.role.Status().Count(lethe.Closed), "it is made and not sent")
	c.settle(1)
	c.poll()
	require.Zero(t, c.role.Status().Count(lethe.Settled), "slices follow the graph")
	c.work()
	require.Nil(t, c.graph(1), "that of the next one is made")
	c.work()
	require.Len(t, c.graph(1).Nodes, 7)
	require.Equal(t, 1, c.role.Status().Count(lethe.Closed))
	c.workAll()
	require.Len(t, c.graph(2).Nodes, 7)
	require.Equal(t, 1, c.role.Status().Count(lethe.Settled))
	_, count := c.published(bus.Snapshots)
	require.Equal(t, 3, count, "two graphs and a manifest, each once")
}

// A transaction of the timestep that is being closed is late, whether its graph is being made or sent: it is in the
// next revision.
func TestATransactionOfTheTimestepThatClosesIsLate(t *testing.T) {
	for what, reach := range map[string]func(c *closingRole){
		"to be made": func(*closingRole) {},
		"made":       func(c *closingRole) { c.next() },
		"to be sent": func(c *closingRole) { c.work() },
		"sent":       func(c *closingRole) { c.work(); c.next() },
	} {
		t.Run(what, func(t *testing.T) {
			c := deploy(t).closing()
			c.fill(1)
			c.poll()
			reach(c)
			c.late(1, 1)
			c.poll()
			c.workAll()
			require.NoError(t, c.session.Tick(t.Context()))
			require.Len(t, c.graph(1).Nodes, 8)
			messages, _ := c.published(bus.Snapshots)
			require.Equal(t, lethe.Revision(2), messages[wire.Key{Kind: wire.KindSnapshot, Timestep: 1}].Revision)
		})
	}
}

// An erasure ends what closes before it is planned: what it names is in no graph that is published later.
func TestAnErasureEndsWhatCloses(t *testing.T) {
	c := deploy(t).closing()
	c.fill(1)
	c.poll()
	require.Len(t, c.due, 1)
	c.submit(transactionID(1, 2))
	c.poll()
	require.Len(t, c.graph(1).Nodes, 7, "it was ended as it was before the request")
	require.Equal(t, 1, c.role.Status().Count(lethe.Closed))
}
