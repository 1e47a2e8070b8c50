package view

import (
	"context"
	"encoding/binary"
	"fmt"

	"lethe"
	"lethe/canonical"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/pipeline/wire"
)

// graphs stores graphs, their labels and slices in numbers.
type graphs struct {
	*state
	// giveWay waits while the final scores of a graph are made, and reports whether it did.
	giveWay func(ctx context.Context) bool
}

// take stores or removes a graph, a manifest or a slice's numbers.
func (g *graphs) take(ctx context.Context, source bus.TopicPartition, m wire.Received) error {
	switch m.Key.Kind {
	case wire.KindSnapshot:
		return g.takeGraph(ctx, source, m)
	case wire.KindManifest:
		return g.takeManifest(source, m)
	case wire.KindSlice:
		return g.takeSlice(source, m)
	default:
		return m.PayloadOf(fmt.Errorf("%s does not carry messages of kind %q", source, m.Key.Kind), 0, 0)
	}
}

// takeGraph stores a graph's payments in place of an earlier revision's, or removes them.
func (g *graphs) takeGraph(ctx context.Context, source bus.TopicPartition, m wire.Received) error {
	t := m.Key.Timestep
	known, err := readGraph(g.store, t)
	if err != nil {
		return err
	}
	if !m.Deleted && known != nil && known.Revision >= m.Revision {
		return g.applyRecord(source, m.Next, nil)
	}
	graph := &lethe.Snapshot{Timestep: t}
	if !m.Deleted {
		decoded, err := canonical.DecodeSnapshot(m.Payload)
		if decoded != nil {
			graph = decoded
		}
		if err := m.PayloadOf(err, graph.Timestep, m.Key.Shard); err != nil {
			return err
		}
	}
	members, err := membersOf(g.store, t)
	if err != nil {
		return err
	}
	_, manifest, err := readManifest(g.store, t)
	if err != nil {
		return err
	}
	nodes := g.nodesOf(ctx, graph, labelsOf(manifest))
	err = g.applyRecord(source, m.Next, func(w swapstore.Writer) error {
		for _, n := range members {
			if _, stays := nodes[n]; stays {
				continue
			}
			forgetNode(w, t, n)
		}
		for n, node := range nodes {
			w.Set(keyOf(nodePrefix, n), node.encode())
			w.Set(memberKey(t, n), nil)
		}
		g.quality.due(w, t)
		return writeGraph(w, m, graph)
	})
	if err == nil {
		g.feed.notify(Timesteps)
	}
	return err
}

func forgetNode(w swapstore.Writer, t lethe.Timestep, n name) {
	w.Delete(keyOf(nodePrefix, n))
	w.Delete(memberKey(t, n))
}

// membersOf lists a graph's transactions.
func membersOf(store swapstore.Reader, t lethe.Timestep) (out []name, err error) {
	return out, store.Scan(timestepkey.New(memberPrefix, t), func(key, _ []byte) error {
		n, err := nameIn(key)
		out = append(out, n)
		return err
	})
}

// nodesOf are a graph's transactions with their payments, without erased ones. It yields once to the final scoring of
// the graph.
func (g *graphs) nodesOf(
	ctx context.Context, s *lethe.Snapshot, labels map[lethe.Pseudonym]lethe.Label,
) map[name]node {
	const atOnce = 1 << 11
	names := make([]name, len(s.Nodes))
	nodes := make([]node, len(s.Nodes))
	namer, waited := newNamer(g.secret), false
	for i, n := range s.Nodes {
		if i%atOnce == 0 && !waited {
			waited = g.giveWay(ctx)
		}
		names[i] = namer.ofID(n.ID)
		nodes[i] = node{id: n.ID, timestep: s.Timestep, label: n.Label}
		if label, known := labels[n.Pseudonym]; known {
			nodes[i].label = label
		}
	}
	both := make(map[lethe.Arc]bool, len(s.Payments))
	for _, p := range s.Payments {
		both[p] = true
	}
	for _, p := range s.Payments {
		back := both[lethe.Arc{Source: p.Target, Target: p.Source}]
		nodes[p.Source].payments = append(nodes[p.Source].payments, payment{names[p.Target], back, true})
		if !back {
			nodes[p.Target].payments = append(nodes[p.Target].payments, payment{names[p.Source], true, false})
		}
	}
	out := make(map[name]node, len(nodes))
	for i, n := range names {
		if !g.hidden.isPurged(n) {
			out[n] = nodes[i]
		}
	}
	return out
}

// labelsOf are the labels in a manifest, which may be nil.
func labelsOf(m *wire.Manifest) map[lethe.Pseudonym]lethe.Label {
	out := make(map[lethe.Pseudonym]lethe.Label)
	if m != nil {
		for _, label := range m.Labels {
			out[label.Pseudonym] = label.Label
		}
	}
	return out
}

func readNode(store swapstore.Reader, n name) (node, bool, error) {
	value, found, err := store.Get(keyOf(nodePrefix, n))
	if err != nil || !found {
		return node{}, false, err
	}
	out, err := decodeNode(value)
	return out, err == nil, err
}

// takeManifest stores or removes a manifest, and labels its transactions.
func (g *graphs) takeManifest(source bus.TopicPartition, m wire.Received) error {
	t := m.Key.Timestep
	known, _, err := readManifest(g.store, t)
	if err != nil {
		return err
	}
	if !m.Deleted && known >= m.Revision {
		return g.applyRecord(source, m.Next, nil)
	}
	manifest := new(wire.Manifest)
	if !m.Deleted {
		decoded, err := wire.DecodeManifest(m.Payload)
		if decoded != nil {
			manifest = decoded
		}
		if err := m.PayloadOf(err, manifest.Timestep, m.Key.Shard); err != nil {
			return err
		}
	}
	relabelled, err := g.relabelled(t, manifest)
	if err != nil {
		return err
	}
	err = g.applyRecord(source, m.Next, func(w swapstore.Writer) error {
		for n, node := range relabelled {
			w.Set(keyOf(nodePrefix, n), node.encode())
		}
		g.quality.due(w, t)
		value := append(binary.BigEndian.AppendUint32(nil, uint32(m.Revision)), m.Payload...)
		setOrDelete(w, timestepkey.New(manifestPrefix, t), value, m.Deleted)
		return nil
	})
	if err == nil {
		g.feed.notify(Timesteps)
	}
	return err
}

// relabelled are the transactions whose label changes.
func (g *graphs) relabelled(t lethe.Timestep, manifest *wire.Manifest) (map[name]node, error) {
	members, err := membersOf(g.store, t)
	if err != nil {
		return nil, err
	}
	labels, pseudonyms := labelsOf(manifest), g.secret.Pseudonymizer()
	out := make(map[name]node)
	for _, n := range members {
		node, found, err := readNode(g.store, n)
		if err != nil {
			return nil, err
		}
		if label := labels[pseudonyms.Pseudonym(node.id)]; found && label != node.label {
			node.label = label
			out[n] = node
		}
	}
	return out, nil
}

// readManifest reads a manifest and its revision; nil and 0 for none.
func readManifest(store swapstore.Reader, t lethe.Timestep) (lethe.Revision, *wire.Manifest, error) {
	value, found, err := store.Get(timestepkey.New(manifestPrefix, t))
	if err != nil || !found {
		return 0, nil, err
	}
	const revisionBytes = 4
	if len(value) < revisionBytes {
		return 0, nil, fmt.Errorf("%w: manifest of timestep %d", swapstore.ErrCorrupt, t)
	}
	m, err := wire.DecodeManifest(value[revisionBytes:])
	return lethe.Revision(binary.BigEndian.Uint32(value)), m, err
}
