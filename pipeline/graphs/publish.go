package graphs

import (
	"fmt"

	"lethe"
	"lethe/canonical"
	"lethe/partition/repair"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
)

// Marks of the snapshot store say what has been published.
const (
	graphMark    = "published/graph/"
	manifestMark = "published/manifest/"
)

func mark(kind string, t lethe.Timestep) []byte { return fmt.Appendf(nil, "%s%d", kind, t) }

// publisher sends graphs, slices and manifests as they are in the store now.
type publisher struct {
	store Store
	turns *role.Turns
	cut   cut
}

// publish returns once the messages are in their topic.
func (p *publisher) publish(messages ...wire.Message) error {
	return p.turns.Publish(role.Output{Messages: messages})
}

// graph publishes a closed timestep's graph.
func (p *publisher) graph(t lethe.Timestep) error {
	content, err := p.store.Load(t)
	if err != nil {
		return err
	}
	if err := p.publish(wire.Message{
		Key:      wire.Key{Kind: wire.KindSnapshot, Timestep: t},
		Revision: content.Info.Revision,
		Previous: p.previous(t),
		Payload:  canonical.EncodeSnapshot(content.Snapshot),
	}); err != nil {
		return err
	}
	return p.store.Marks().Put(mark(graphMark, t), nil)
}

// previous returns the closed timestep before t. Timesteps close in ascending
// order, so it never changes.
func (p *publisher) previous(t lethe.Timestep) lethe.Timestep {
	before := lethe.NoTimestep
	for _, info := range p.store.Timesteps() {
		if info.Timestep < t && info.State != lethe.Open {
			before = max(before, info.Timestep)
		}
	}
	return before
}

// allSlices publishes every slice of a settled timestep and its manifest.
func (p *publisher) allSlices(t lethe.Timestep) error {
	all := make([]lethe.ShardID, p.cut.shards)
	for i := range all {
		all[i] = lethe.ShardID(i)
	}
	return p.slices(t, all)
}

// slices publishes the slices of some shards of a settled timestep and the
// manifest that names all. The other slices keep the digest they had: at scope
// shard they are not what the present snapshot would give.
func (p *publisher) slices(t lethe.Timestep, shards []lethe.ShardID) error {
	content, err := p.store.Load(t)
	if err != nil {
		return err
	}
	manifest := &wire.Manifest{
		Timestep: t, Previous: content.Info.Previous,
		Slices: make([]lethe.Digest, p.cut.shards), Labels: wire.LabelsOf(content.Snapshot),
	}
	if len(shards) < p.cut.shards {
		if err := p.lastDigests(t, manifest.Slices); err != nil {
			return err
		}
	}
	messages := make([]wire.Message, 0, len(shards))
	for _, shard := range shards {
		s, err := repair.OneSlice(content.Snapshot, manifest.Previous, content.Assignment, p.cut.shards, shard, p.cut.repair)
		if err != nil {
			return fmt.Errorf("slice of shard %d: %w", shard, err)
		}
		payload := canonical.EncodeSlice(s)
		manifest.Slices[shard] = canonical.DigestOf(payload)
		messages = append(messages, wire.Message{
			Key:      wire.Key{Kind: wire.KindSlice, Shard: shard, Timestep: t},
			Revision: content.Info.Revision, Payload: payload,
		})
	}
	if err := p.publish(messages...); err != nil {
		return err
	}
	if err := p.publish(wire.Message{
		Key:      wire.Key{Kind: wire.KindManifest, Timestep: t},
		Revision: content.Info.Revision, Payload: manifest.Encode(),
	}); err != nil {
		return err
	}
	return p.store.Marks().Put(mark(manifestMark, t), digestsOf(manifest))
}

// digestsOf is what the mark of a published manifest keeps: no pseudonym.
func digestsOf(m *wire.Manifest) []byte {
	out := make([]byte, 0, len(m.Slices)*len(lethe.Digest{}))
	for _, d := range m.Slices {
		out = append(out, d[:]...)
	}
	return out
}

// lastDigests reads the slice digests of the manifest published last.
func (p *publisher) lastDigests(t lethe.Timestep, into []lethe.Digest) error {
	value, found, err := p.store.Marks().Get(mark(manifestMark, t))
	if err != nil {
		return err
	}
	if !found || len(value) != len(into)*len(lethe.Digest{}) {
		return fmt.Errorf("timestep %d: no manifest of %d slices was published", t, len(into))
	}
	for i := range into {
		copy(into[i][:], value[i*len(lethe.Digest{}):])
	}
	return nil
}
