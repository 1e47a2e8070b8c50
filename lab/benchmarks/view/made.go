package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"lethe"
	"lethe/canonical"
	"lethe/deletions"
	"lethe/deletions/translog"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// graph publishes a timestep's graph, its manifest with the label of every fifth transaction, and slices.
func (f *filler) graph(ctx context.Context, t lethe.Timestep) error {
	s := &lethe.Snapshot{Timestep: t, FeatureCount: 1, Features: make([]float32, f.perStep())}
	for i := range f.perStep() {
		id := idOf(t, i)
		s.Nodes = append(s.Nodes, lethe.SnapshotNode{ID: id, Pseudonym: f.secret.Pseudonym(id)})
	}
	slices.SortFunc(s.Nodes, func(a, b lethe.SnapshotNode) int { return a.Pseudonym.Compare(b.Pseudonym) })
	random := rand.New(rand.NewPCG(7, uint64(t)))
	paid := make(map[lethe.Arc]bool)
	for range f.perStep() * 6 / 5 {
		arc := lethe.Arc{Source: uint32(random.IntN(f.perStep())), Target: uint32(random.IntN(f.perStep()))}
		if arc.Source != arc.Target && !paid[arc] {
			paid[arc] = true
			s.Payments = append(s.Payments, arc)
		}
	}
	slices.SortFunc(s.Payments, lethe.Arc.Compare)
	m := wire.Manifest{Timestep: t, Previous: t - 1, Slices: make([]lethe.Digest, shards)}
	parts := make([]*lethe.Slice, shards)
	for shard := range parts {
		parts[shard] = &lethe.Slice{Timestep: t, Previous: t - 1, Shard: lethe.ShardID(shard), FeatureCount: features}
		m.Slices[shard] = lethe.Digest{byte(shard + 1)}
	}
	for i, n := range s.Nodes {
		label := lethe.Unknown
		if i%5 == 0 {
			label = lethe.Licit
			if i%50 == 0 {
				label = lethe.Illicit
			}
			m.Labels = append(m.Labels, wire.NodeLabel{Pseudonym: n.Pseudonym, Label: label})
		}
		p := parts[i%shards]
		p.Nodes, p.Labels = append(p.Nodes, n.Pseudonym), append(p.Labels, label)
		p.Features = append(p.Features, make([]float32, features)...)
	}
	graph := wire.Key{Kind: wire.KindSnapshot, Timestep: t}
	messages := []wire.Message{
		{Key: graph, Revision: 1, Previous: t - 1, Payload: canonical.EncodeSnapshot(s)},
		{Key: wire.Key{Kind: wire.KindManifest, Timestep: t}, Revision: 1, Payload: m.Encode()},
	}
	if err := wire.Publish(ctx, f.client, 1, messages...); err != nil {
		return err
	}
	partitions, err := f.client.Partitions(ctx, bus.Slices)
	if err != nil {
		return err
	}
	messages = nil
	for _, p := range parts {
		messages = append(messages, wire.Message{
			Key: wire.Key{Kind: wire.KindSlice, Shard: p.Shard, Timestep: t}, Revision: 1, Payload: canonical.EncodeSlice(p),
		})
	}
	return wire.Publish(ctx, f.client, partitions, messages...)
}

// rows keep a log in memory.
type rows []deletions.Row

// Put implements deletions.KV.
func (r *rows) Put(list ...deletions.Row) error {
	*r = append(*r, list...)
	return nil
}

// Scan implements deletions.KV.
func (r *rows) Scan(prefix []byte, fn func(key, value []byte) error) error {
	sorted := slices.Clone(*r)
	slices.SortStableFunc(sorted, func(a, b deletions.Row) int { return strings.Compare(string(a.Key), string(b.Key)) })
	for _, row := range sorted {
		if strings.HasPrefix(string(row.Key), string(prefix)) {
			if err := fn(row.Key, row.Value); err != nil {
				return err
			}
		}
	}
	return nil
}

// log publishes a transparency log whose leaves commit to models: of as many timesteps as there are, again and again.
func (f *filler) log(ctx context.Context) error {
	signer, err := translog.NewSigner(translog.Name("benchmark"), signingKey())
	if err != nil {
		return err
	}
	log := translog.NewLog(new(rows), signer)
	var leaves []translog.Leaf
	for i := range f.Leaves {
		leaves = append(leaves, translog.Checkpoint{
			Component: i % groups / 8, Group: i % groups % 8, Timestep: lethe.Timestep(i / groups % f.Steps),
			Lineage: lethe.Digest{byte(i)}, Digest: sha256.Sum256(fmt.Append(nil, i)),
		})
	}
	if _, err := log.Commit(leaves...); err != nil {
		return err
	}
	return log.Publish(ctx, f.client)
}
