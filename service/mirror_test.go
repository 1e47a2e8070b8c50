package service_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/configs"
	"lethe/dataset"
	"lethe/partition"
	"lethe/partition/graph"
	"lethe/partition/repair"
	"lethe/scoring/ensemble"
	"lethe/trainer/kernels"
)

// mirror says what a service should hold, from the dataset in memory alone: it
// reads no store and no topic, and knows nothing of plans, ledgers and
// lineages. Forgetting is leaving the ids out and building everything again.
type mirror struct {
	t      testing.TB
	c      configs.Config
	secret lethe.Secret
	stream *dataset.Stream
	runner ensemble.Runner
	gone   map[lethe.TransactionID]bool
	// shards is where every transaction was put when its timestep settled.
	shards map[lethe.Pseudonym]lethe.ShardID
	// settled are the settled timesteps, ascending, and slices what their shards
	// hold now.
	settled []lethe.Timestep
	slices  map[lethe.Timestep][]*lethe.Slice
}

func newMirror(t testing.TB, c configs.Config, stream *dataset.Stream) *mirror {
	t.Helper()
	secret, err := configs.LoadOrCreateSecret(c.SecretFile, nil)
	require.NoError(t, err)
	m := &mirror{
		t: t, c: c, secret: secret, stream: stream,
		gone:   make(map[lethe.TransactionID]bool),
		shards: make(map[lethe.Pseudonym]lethe.ShardID),
		slices: make(map[lethe.Timestep][]*lethe.Slice),
	}
	layout, _ := m.models()
	m.runner, err = ensemble.NewRunner(layout, kernels.Default(), 2)
	require.NoError(t, err)
	return m
}

// step returns a timestep of the dataset.
func (m *mirror) step(at lethe.Timestep) *dataset.Step {
	for i := range m.stream.Steps {
		if m.stream.Steps[i].Timestep == at {
			return &m.stream.Steps[i]
		}
	}
	m.t.Fatalf("the dataset has no timestep %d", at)
	return nil
}

// graph builds the graph of a timestep from the records that are not gone.
func (m *mirror) graph(at lethe.Timestep) *lethe.Snapshot {
	step := m.step(at)
	g := &lethe.Snapshot{Timestep: at, FeatureCount: m.stream.FeatureCount}
	labels, rows := make(map[lethe.TransactionID]lethe.Label), make(map[lethe.TransactionID][]float32)
	for _, l := range step.Labels {
		labels[l.ID] = l.Label
	}
	for _, tx := range step.Transactions {
		if !m.gone[tx.ID] {
			rows[tx.ID] = tx.Features
			g.Nodes = append(g.Nodes, lethe.SnapshotNode{Pseudonym: m.secret.Pseudonym(tx.ID), ID: tx.ID, Label: labels[tx.ID]})
		}
	}
	slices.SortFunc(g.Nodes, func(a, b lethe.SnapshotNode) int { return a.Pseudonym.Compare(b.Pseudonym) })
	position := make(map[lethe.TransactionID]uint32)
	for i, n := range g.Nodes {
		position[n.ID] = uint32(i)
		g.Features = append(g.Features, rows[n.ID]...)
	}
	for _, p := range step.Payments {
		a, okA := position[p.Source]
		b, okB := position[p.Target]
		if okA && okB {
			g.Payments = append(g.Payments, lethe.Arc{Source: a, Target: b})
		}
	}
	slices.SortFunc(g.Payments, lethe.Arc.Compare)
	g.Payments = slices.Compact(g.Payments)
	return g
}

// cut makes every slice of a timestep as the remaining records and the shards
// they were put into give them.
func (m *mirror) cut(at lethe.Timestep) []*lethe.Slice {
	g := m.graph(at)
	a := make(graph.Assignment, len(g.Nodes))
	for i, n := range g.Nodes {
		shard, known := m.shards[n.Pseudonym]
		require.True(m.t, known)
		a[i] = shard
	}
	previous := lethe.NoTimestep
	if i := slices.Index(m.settled, at); i > 0 {
		previous = m.settled[i-1]
	}
	out, err := repair.Slices(g, previous, a, m.c.Partition.Shards, m.c.RepairConfig())
	require.NoError(m.t, err)
	return out
}

// settle partitions timesteps as they are now.
func (m *mirror) settle(timesteps ...lethe.Timestep) {
	for _, at := range timesteps {
		m.deal(at)
		m.settled = append(m.settled, at)
		m.slices[at] = m.cut(at)
	}
}

// deal partitions a timestep as it is now.
func (m *mirror) deal(at lethe.Timestep) {
	s := m.graph(at)
	g, err := graph.FromSnapshot(s)
	require.NoError(m.t, err)
	config := m.c.PartitionConfig()
	config.Timestep = at
	for _, n := range s.Nodes {
		config.Nodes = append(config.Nodes, n.Pseudonym)
	}
	a, _, err := partition.Run(context.Background(), g, config)
	require.NoError(m.t, err)
	for i, n := range s.Nodes {
		m.shards[n.Pseudonym] = a[i]
	}
}

// neighbours lists whom the records that are not gone join a transaction with.
func (m *mirror) neighbours(id lethe.TransactionID) []lethe.TransactionID {
	var out []lethe.TransactionID
	for _, step := range m.stream.Steps {
		for _, p := range step.Payments {
			switch {
			case p.Source == id && !m.gone[p.Target]:
				out = append(out, p.Target)
			case p.Target == id && !m.gone[p.Source]:
				out = append(out, p.Source)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// timestepOf says where the dataset has a transaction.
func (m *mirror) timestepOf(id lethe.TransactionID) lethe.Timestep {
	for _, step := range m.stream.Steps {
		for _, tx := range step.Transactions {
			if tx.ID == id {
				return step.Timestep
			}
		}
	}
	return lethe.NoTimestep
}

// forget leaves transactions out and replaces the slices that the scope names.
// It returns the shards that have to be trained again, each with the first
// timestep from which on.
func (m *mirror) forget(scope lethe.Scope, ids ...lethe.TransactionID) map[lethe.ShardID]lethe.Timestep {
	touched := make(map[lethe.Timestep]map[lethe.ShardID]bool)
	for _, id := range ids {
		at := m.timestepOf(id)
		own, settled := m.shards[m.secret.Pseudonym(id)]
		if !settled {
			continue
		}
		if touched[at] == nil {
			touched[at] = make(map[lethe.ShardID]bool)
		}
		touched[at][own] = true
		if scope == lethe.ScopeStubs {
			for _, n := range m.neighbours(id) {
				touched[at][m.shards[m.secret.Pseudonym(n)]] = true
			}
		}
	}
	for _, id := range ids {
		m.gone[id] = true
	}
	from := make(map[lethe.ShardID]lethe.Timestep)
	note := func(shard lethe.ShardID, at lethe.Timestep) {
		if first, known := from[shard]; !known || at < first {
			from[shard] = at
		}
	}
	var empty []lethe.Timestep
	for at, shards := range touched {
		if len(m.graph(at).Nodes) == 0 {
			empty = append(empty, at)
			continue
		}
		if scope == lethe.ScopePartition {
			m.deal(at)
		}
		fresh := m.cut(at)
		if scope == lethe.ScopePartition {
			shards = differing(m.slices[at], fresh)
		}
		for shard := range shards {
			m.slices[at][shard] = fresh[shard]
			note(shard, at)
		}
	}
	for _, at := range empty {
		m.leaveOut(at)
		for shard := range lethe.ShardID(m.c.Partition.Shards) {
			note(shard, at)
		}
	}
	return from
}

// differing are the shards whose slices are not the same.
func differing(a, b []*lethe.Slice) map[lethe.ShardID]bool {
	out := make(map[lethe.ShardID]bool)
	for shard := range a {
		if canonical.DigestSlice(a[shard]) != canonical.DigestSlice(b[shard]) {
			out[lethe.ShardID(shard)] = true
		}
	}
	return out
}

// leaveOut takes an empty timestep out of the stream: that after it follows another
// one.
func (m *mirror) leaveOut(at lethe.Timestep) {
	i := slices.Index(m.settled, at)
	m.settled = slices.Delete(m.settled, i, i+1)
	delete(m.slices, at)
	if i < len(m.settled) {
		m.slices[m.settled[i]] = m.cut(m.settled[i])
	}
}
