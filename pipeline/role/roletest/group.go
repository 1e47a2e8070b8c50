package roletest

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"lethe/ingest/bus"
	"lethe/pipeline/role"
)

// Group is a consumer group in memory, whose assignments a test controls.
type Group struct {
	mu         sync.Mutex
	generation int64
	leader     string
	members    map[string]chan bus.Assigned
	positions  map[bus.TopicPartition]int64
	// deaf are members without a connection to the brokers.
	deaf map[string]bool
	// frozen means that positions are not committed.
	frozen bool
}

// NewGroup returns a group without members.
func NewGroup() *Group {
	return &Group{
		members: make(map[string]chan bus.Assigned), positions: make(map[bus.TopicPartition]int64),
		deaf: make(map[string]bool),
	}
}

// GroupSession is the session timeout: Lead may replace a member without a connection for that long.
const GroupSession = 200 * time.Millisecond

// Member returns a member of the group. The first one requested is the leader, whichever joins first: tests create
// members in a fixed order, but processes start in any.
func (g *Group) Member(name string) role.Sharer {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.leader == "" {
		g.leader = name
	}
	return sharer{g, name}
}

// Lead changes the leader, and notifies all connected members.
func (g *Group) Lead(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leader = name
	g.assign()
}

// Deafen has brokers not answer a member, or answer it again.
func (g *Group) Deafen(name string, deaf bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.deaf[name] = deaf; !deaf {
		g.assign()
	}
}

// Freeze has brokers keep positions as they are, though they answer that they took others.
func (g *Group) Freeze(frozen bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.frozen = frozen
}

func (g *Group) assign() {
	g.generation++
	for name, member := range g.members {
		if g.deaf[name] {
			continue
		}
		a := bus.Assigned{Generation: g.generation}
		if name == g.leader {
			a.Partitions = []int{0}
		}
		member <- a
	}
}

// Positions returns the offsets committed by the leaders.
func (g *Group) Positions() map[bus.TopicPartition]int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.positions)
}

type sharer struct {
	*Group
	name string
}

// Session implements role.Sharer.
func (s sharer) Session() time.Duration { return GroupSession }

// Positions implements role.Sharer.
func (s sharer) Positions(
	_ context.Context, _ bus.GroupConfig, of []bus.TopicPartition,
) (map[bus.TopicPartition]int64, error) {
	out := s.Group.Positions()
	maps.DeleteFunc(out, func(tp bus.TopicPartition, _ int64) bool { return !slices.Contains(of, tp) })
	return out, nil
}

// Share implements role.Sharer.
func (s sharer) Share(ctx context.Context, _ bus.GroupConfig, m bus.Member) error {
	member := make(chan bus.Assigned, 100)
	s.mu.Lock()
	s.members[s.name] = member
	s.assign()
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.members, s.name)
	}()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	var now bus.Assigned
	for {
		select {
		case <-ctx.Done():
			return nil
		case now = <-member:
			m.Assigned(now)
		case <-tick.C:
			s.commit(now, m)
		}
	}
}

// commit commits, if there is something and the member is one of the present generation.
func (s sharer) commit(now bus.Assigned, m bus.Member) {
	positions := m.Positions()
	s.mu.Lock()
	takes := len(positions) > 0 && len(now.Partitions) > 0 && now.Generation == s.generation && !s.deaf[s.name]
	if takes && !s.frozen {
		maps.Copy(s.positions, positions)
	}
	s.mu.Unlock()
	if takes {
		m.Committed(now.Generation, time.Now())
	}
}
