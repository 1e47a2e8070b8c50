package view

import (
	"encoding/binary"
	"fmt"

	"lethe"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/pipeline/wire"
)

// takeManifest stores or removes a manifest, and labels its transactions.
func takeManifest(l *logic, source bus.TopicPartition, m wire.Received) error {
	t := m.Key.Timestep
	known, _, err := readManifest(l.store, t)
	if err != nil {
		return err
	}
	if !m.Deleted && known >= m.Revision {
		return l.applyRecord(source, m.Next, nil)
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
	relabelled, err := relabelled(l, t, manifest)
	if err != nil {
		return err
	}
	err = l.applyRecord(source, m.Next, func(w swapstore.Writer) error {
		for n, node := range relabelled {
			if err := w.Set(keyOf(nodePrefix, n), node.encode()); err != nil {
				return err
			}
		}
		key := timestepkey.New(manifestPrefix, t)
		if m.Deleted {
			return w.Delete(key)
		}
		value := append(binary.BigEndian.AppendUint32(nil, uint32(m.Revision)), m.Payload...)
		return w.Set(key, value)
	})
	if err == nil {
		l.unmeasured[t] = true
		l.feed.notify(Timesteps)
	}
	return err
}

// relabelled are the transactions whose label changes.
func relabelled(l *logic, t lethe.Timestep, manifest *wire.Manifest) (map[name]node, error) {
	members, err := membersOf(l.store, t)
	if err != nil {
		return nil, err
	}
	labels, pseudonyms := labelsOf(manifest), l.o.Secret.Pseudonymizer()
	out := make(map[name]node)
	for _, n := range members {
		node, found, err := readNode(l.store, n)
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
