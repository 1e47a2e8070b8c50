package role_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/journal"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

// pair are two processes of a role that sends every slice on as a model.
type pair struct {
	t      *testing.T
	topics *roletest.Bus
	group  *roletest.Group
	// open are the topics that are read without waiting for who leads.
	open []bus.Topic
	// writes are the topics as those write to them that are named.
	writes map[string]role.Bus
	logics map[string]*echo
	stops  map[string]func() error
	// fenced are the topics as each process writes to them in its present term.
	fenced sync.Map
}

func newPair(t *testing.T) *pair {
	return &pair{
		t: t, topics: roletest.NewBus(nil), group: roletest.NewGroup(), logics: make(map[string]*echo),
		stops: make(map[string]func() error),
	}
}

// start starts a process, whose state outlives it.
func (p *pair) start(name string) {
	p.t.Helper()
	if p.logics[name] == nil {
		p.logics[name] = new(echo)
	}
	logic, log := p.logics[name], slog.New(slog.DiscardHandler)
	lead := role.NewLead("echo", name, p.group.Member(name), time.Now, log)
	r, err := role.Hot(p.t.Context(), "echo", lead, func(ctx context.Context, s *role.Standing) (*role.Follower, error) {
		var topics role.Bus = p.topics
		if own := p.writes[name]; own != nil {
			topics = own
		}
		around := role.Around(s.Fenced(topics), nil, log)
		p.fenced.Store(name, around.Bus)
		around.Standing, s.Open = s, p.open
		e, err := newEchoing(ctx, logic, s, around.Bus)
		return role.Follow("echo", e, around), err
	})
	require.NoError(p.t, err)
	ctx, cancel := context.WithCancel(p.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	p.stops[name] = func() error {
		cancel()
		delete(p.stops, name)
		return <-ended
	}
	p.t.Cleanup(func() {
		if stop := p.stops[name]; stop != nil {
			require.NoError(p.t, stop())
		}
	})
}

func (p *pair) publish(at ...lethe.Timestep) {
	p.t.Helper()
	for _, t := range at {
		require.NoError(p.t, wire.Publish(p.t.Context(), p.topics, 1, slice(t)))
	}
}

// models are the timesteps and the writers of the models that are there, in order.
func (p *pair) models() (out []string) {
	p.t.Helper()
	for _, m := range roletest.Messages(p.t, p.topics, bus.Models) {
		out = append(out, fmt.Sprintf("%d %s", m.Key.Timestep, m.Owner.Instance))
	}
	return out
}

func (p *pair) await(want ...string) {
	p.t.Helper()
	require.Eventually(p.t, func() bool { return fmt.Sprint(p.models()) == fmt.Sprint(want) }, time.Minute,
		10*time.Millisecond, "want %s", want)
}

// taken waits until a process has taken timesteps.
func (p *pair) taken(name string, at ...lethe.Timestep) {
	p.t.Helper()
	for _, t := range at {
		require.Eventually(p.t, func() bool { return p.logics[name].has(fmt.Sprintf("take slice/1/%d", t)) },
			time.Minute, time.Millisecond)
	}
}

// barrier writes one to control.v1.
func (p *pair) barrier() {
	p.t.Helper()
	record, err := wire.Barrier{Name: "any"}.Record()
	require.NoError(p.t, err)
	require.NoError(p.t, p.topics.Write(p.t.Context(), bus.Control, []ingest.Outgoing{record}))
}

// began is an epoch that somebody has begun.
func (p *pair) began(epoch int64, name string) {
	p.t.Helper()
	record, err := journal.Entry{Role: "echo", Epoch: epoch, Instance: name, Decision: journal.EpochBegan{}}.Record()
	require.NoError(p.t, err)
	require.NoError(p.t, p.topics.Write(p.t.Context(), bus.Journal, []ingest.Outgoing{record}))
}
