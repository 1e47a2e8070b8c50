package repair

import (
	"fmt"

	"lethe/partition/graph"
	"lethe/partition/onehop"

	"lethe"
)

// Slices divides a snapshot into one slice per shard, including empty ones. A slice holds the
// shard's nodes in the order of the snapshot, the edges between them, and a stub for each end of
// a cut edge in the shard, ordered by owner and then by the pseudonym of the missing neighbour; a
// node's extra stubs follow the others. It contains nothing of other shards' nodes, unless
// Config.OneHop adds means of all neighbours' features to each row.
//
// previous is the settled timestep before this one, or lethe.NoTimestep. The error wraps
// graph.ErrAssignment if a does not give every node one of the shards.
func Slices(s *lethe.Snapshot, previous lethe.Timestep, a graph.Assignment, shards int, config Config) ([]*lethe.Slice,
	error) {
	c, err := newCutter(s, previous, a, shards, config)
	if err != nil {
		return nil, err
	}
	out := make([]*lethe.Slice, shards)
	for shard := range out {
		out[shard] = c.slice(lethe.ShardID(shard))
	}
	return out, nil
}

// OneSlice builds the slice of one shard only. It equals Slices(...)[shard].
func OneSlice(s *lethe.Snapshot, previous lethe.Timestep, a graph.Assignment, shards int, shard lethe.ShardID,
	config Config) (*lethe.Slice, error) {
	c, err := newCutter(s, previous, a, shards, config)
	if err != nil {
		return nil, err
	}
	if int64(shard) >= int64(shards) {
		return nil, fmt.Errorf("slice of timestep %d: %w: shard %d of %d", s.Timestep, graph.ErrAssignment, shard, shards)
	}
	return c.slice(shard), nil
}

// cutter holds the data that the slices of one snapshot share.
type cutter struct {
	snapshot *lethe.Snapshot
	previous lethe.Timestep
	graph    *graph.Graph
	a        graph.Assignment
	// members lists the nodes of every shard, ascending, and local is each
	// node's position in its list.
	members [][]uint32
	local   []uint32
	lambdas lambdas
	rows    *onehop.Rows
}

func newCutter(s *lethe.Snapshot, previous lethe.Timestep, a graph.Assignment, shards int, config Config) (*cutter,
	error) {
	if err := config.Validate(); err != nil {
		return nil, fmt.Errorf("repair: %w", err)
	}
	if err := a.Check(len(s.Nodes), shards); err != nil {
		return nil, fmt.Errorf("slices of timestep %d: %w", s.Timestep, err)
	}
	g, err := graph.FromSnapshot(s)
	if err != nil {
		return nil, fmt.Errorf("slices: %w", err)
	}
	c := &cutter{
		snapshot: s, previous: previous, graph: g, a: a,
		members: make([][]uint32, shards),
		local:   make([]uint32, len(a)),
		lambdas: lambdas{Config: config, timestep: s.Timestep},
		rows:    config.OneHop.Rows(s),
	}
	for i, shard := range a {
		c.local[i] = uint32(len(c.members[shard]))
		c.members[shard] = append(c.members[shard], uint32(i))
	}
	return c, nil
}

// slice builds one slice. Its lists are never nil, as after decoding.
func (c *cutter) slice(shard lethe.ShardID) *lethe.Slice {
	members := c.members[shard]
	features := c.lambdas.OneHop.Features(c.snapshot.FeatureCount)
	out := &lethe.Slice{
		Timestep: c.snapshot.Timestep, Previous: c.previous, Shard: shard,
		FeatureCount: features,
		Nodes:        make([]lethe.Pseudonym, len(members)),
		Labels:       make([]lethe.Label, len(members)),
		Features:     make([]float32, 0, len(members)*features),
		Edges:        []lethe.Edge{},
		Stubs:        []lethe.Stub{},
	}
	for at, i := range members {
		out.Nodes[at] = c.snapshot.Nodes[i].Pseudonym
		out.Labels[at] = c.snapshot.Nodes[i].Label
		out.Features = c.rows.Append(out.Features, int(i))
		c.connect(out, int(i))
	}
	return out
}

// connect adds the kept edges from node i to later nodes, and its stubs. Nodes and neighbours
// ascend by pseudonym, so both lists are in order.
func (c *cutter) connect(out *lethe.Slice, i int) {
	owner := c.snapshot.Nodes[i].Pseudonym
	repair := c.lambdas.Method != None
	missing := 0
	for _, j := range c.graph.Neighbors(i) {
		switch {
		case c.a[j] != out.Shard:
			missing++
			if repair {
				lambda := c.lambdas.forNeighbour(owner, c.snapshot.Nodes[j].Pseudonym)
				out.Stubs = append(out.Stubs, lethe.Stub{Owner: c.local[i], Lambda: lambda})
			}
		case int(j) > i:
			out.Edges = append(out.Edges, lethe.Edge{A: c.local[i], B: c.local[j]})
		}
	}
	for extra := range max(0, c.lambdas.MinStubs-missing) {
		lambda := c.lambdas.forExtra(owner, extra)
		out.Stubs = append(out.Stubs, lethe.Stub{Owner: c.local[i], Lambda: lambda})
	}
}
