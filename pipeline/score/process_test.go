package score

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

var errPulled = errors.New("the cable was pulled")

// cutOff are topics of which the predictions are written in part, and that is all.
type cutOff struct {
	role.Bus
	part int
}

// Write implements role.Bus.
func (c cutOff) Write(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error {
	if t != bus.Predictions {
		return c.Bus.Write(ctx, t, records)
	}
	return errors.Join(errPulled, c.Bus.Write(ctx, t, records[:min(c.part, len(records))]))
}

// process is one that leads or stands by, and does what it is told to.
type process struct {
	t      *testing.T
	o      Options
	lead   *role.Lead
	store  *roletest.Store
	logic  *logic
	closes func()
	*roletest.Session
}

// newProcess begins one that stands by.
func newProcess(t *testing.T, name string, o Options) *process {
	t.Helper()
	o.Instance = name
	lead := role.NewLead(roleName, name, roletest.NewGroup().Member(name), time.Now, slog.New(slog.DiscardHandler))
	p := &process{t: t, o: o, lead: lead, store: roletest.NewStore(), closes: func() {}}
	t.Cleanup(func() { p.closes() })
	p.begin(0)
	return p
}

// begin opens the role for a term, 0 for standing by, on the store as it is.
func (p *process) begin(term int64) {
	p.t.Helper()
	p.closes()
	o := p.o
	o.Dir = p.t.TempDir()
	o.Standing = &role.Standing{Lead: p.lead, Term: term}
	var err error
	p.logic, err = newLogic(o, p.store)
	require.NoError(p.t, err)
	f, err := follow(p.t.Context(), p.logic)
	require.NoError(p.t, err)
	p.Session, err = roletest.Begin(p.t.Context(), f)
	require.NoError(p.t, err)
	session := p.Session
	p.closes = func() { require.NoError(p.t, session.Close()) }
}

// reads has it take all that there is for it.
func (p *process) reads() {
	p.t.Helper()
	for {
		if more, err := p.Poll(p.t.Context()); err != nil || !more {
			require.NoError(p.t, err)
			return
		}
	}
}

// isPulled has it read until its cable is pulled.
func (p *process) isPulled() {
	p.t.Helper()
	var err error
	for more := true; more && err == nil; {
		more, err = p.Poll(p.t.Context())
	}
	require.ErrorIs(p.t, err, errPulled)
}

// leads has a process that stands by take over.
func (p *process) leads() {
	p.t.Helper()
	p.reads()
	p.begin(1)
	p.reads()
}

// digests are of what a store holds.
func (p *process) digests() map[string]string {
	out := p.content()
	for key, value := range out {
		out[key] = fmt.Sprintf("%d %.30q %s", len(value), value, canonical.DigestOf([]byte(value)))
	}
	return out
}

// content is what a store holds.
func (p *process) content() map[string]string {
	p.t.Helper()
	out := make(map[string]string)
	require.NoError(p.t, p.store.Scan(nil, func(key, value []byte) error {
		out[string(key)] = string(value)
		return nil
	}))
	return out
}

// models publishes those of a timestep.
func (w *scenario) publishModels(t *testing.T, topics wire.Publisher, at lethe.Timestep) {
	t.Helper()
	for shard := range lethe.ShardID(shards) {
		require.NoError(t, wire.Publish(t.Context(), topics, 2, w.model(shard, at)))
	}
}

// commanded writes a command.
func commanded(t *testing.T, topics *roletest.Bus, c *wire.Command) {
	t.Helper()
	records, err := c.Records()
	require.NoError(t, err)
	require.NoError(t, topics.Write(t.Context(), bus.Control, records))
}
