package worlds

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// seat is a place in a group whose assignments a world draws. It implements role.Sharer.
type seat struct {
	taken chan membership
	// group is that of which one leads, nil where work is spread.
	group *group
}

// membership is what a process takes part in a group with.
type membership struct {
	bus.Member
	rank func() bus.Rank
}

// Share implements role.Sharer.
func (s seat) Share(ctx context.Context, g bus.GroupConfig, m bus.Member) error {
	s.taken <- membership{m, g.Rank}
	<-ctx.Done()
	return ctx.Err()
}

// Positions implements role.Sharer.
func (s seat) Positions(
	_ context.Context, _ bus.GroupConfig, of []bus.TopicPartition,
) (map[bus.TopicPartition]int64, error) {
	if s.group == nil {
		return nil, nil
	}
	out := maps.Clone(s.group.positions)
	maps.DeleteFunc(out, func(tp bus.TopicPartition, _ int64) bool { return !slices.Contains(of, tp) })
	return out, nil
}

// Session implements role.Sharer.
func (seat) Session() time.Duration { return time.Hour }

// group are the processes of a role of which one leads, as brokers and the operator know them.
// Each has a folder of its own.
type group struct {
	role string
	// away says of each that it does not run now, hangs that it runs, does nothing, and is not
	// heard of by brokers.
	away, hangs []bool
	// emptied says of each that it began with an empty folder.
	emptied []bool
	// leader is who leads, as brokers have it, or nobody, since a generation.
	leader     int
	generation int64
	// positions are up to where the leaders have dealt with partitions.
	positions map[bus.TopicPartition]int64
	// registered says that control.v1 has the members.
	registered bool
	// newcomer is the process that has not begun yet, or nobody.
	newcomer int
	// hosts are those that run, by their number, nil for others.
	hosts []*host
	clock *clock
}

func groupOf(role string, processes int) *group {
	return &group{
		role: role, away: make([]bool, processes), hangs: make([]bool, processes), hosts: make([]*host, processes),
		emptied: make([]bool, processes),
		leader:  nobody, newcomer: nobody, positions: make(map[bus.TopicPartition]int64),
	}
}

// clone is the group as others find it once all of its processes have ended.
func (g *group) clone() *group {
	out := groupOf(g.role, len(g.away))
	copy(out.away, g.away)
	copy(out.emptied, g.emptied)
	out.leader, out.generation, out.registered = g.leader, g.generation, g.registered
	out.newcomer, out.positions = g.newcomer, maps.Clone(g.positions)
	return out
}

// name is that of a process's data directory, and folder where the role keeps what it keeps.
func (g *group) name(number int) string { return strconv.Itoa(number + 1) }

func (g *group) folder(number int) string {
	if g.role == ofGraphs {
		return numbered("/build", number)
	}
	return numbered("/score", number)
}

// present reports whether brokers hear of a process.
func (g *group) present(number int) bool { return g.hosts[number] != nil && !g.hangs[number] }

// elect has brokers look who is there, and choose who leads as lethe's balancer does: who leads,
// else who is furthest.
func (g *group) elect() {
	if g.leader == nobody || !g.present(g.leader) {
		g.leader = nobody
		for i := range g.hosts {
			if g.present(i) && (g.leader == nobody || g.isBefore(i, g.leader)) {
				g.leader = i
			}
		}
	}
	g.assign()
}

func (g *group) isBefore(a, b int) bool {
	x, y := g.hosts[a].member.rank(), g.hosts[b].member.rank()
	return cmp.Or(cmp.Compare(x.Has, y.Has), cmp.Compare(x.Far, y.Far)) > 0
}

// assign tells all that are there who leads.
func (g *group) assign() {
	g.generation++
	for i, h := range g.hosts {
		if !g.present(i) {
			continue
		}
		a := bus.Assigned{Generation: g.generation}
		if i == g.leader {
			a.Partitions = []int{0}
		}
		h.member.Assigned(a)
	}
	g.commit()
}

// commit has brokers take how far the leader is, which tells it that it leads still.
func (g *group) commit() {
	if g.leader == nobody || !g.present(g.leader) {
		return
	}
	m := g.hosts[g.leader].member
	for tp, at := range m.Positions() {
		if at >= 0 {
			g.positions[tp] = at
		}
	}
	m.Committed(g.generation, g.clock.now)
}

// register says that the processes are members, as the service does before they begin.
func (g *group) register(ctx context.Context, d *deployment) error {
	if g.registered {
		return nil
	}
	g.registered = true
	for i := range g.away {
		if i == g.newcomer {
			continue
		}
		record, err := wire.Member{Role: g.role, Identity: g.name(i), Run: "1"}.Record()
		if err == nil {
			err = d.topics.Bus.Write(ctx, bus.Control, []ingest.Outgoing{record})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
