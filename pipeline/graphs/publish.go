package graphs

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"lethe"
	"lethe/canonical"
	"lethe/deletions"
	"lethe/deletions/translog"
	"lethe/pipeline/journal"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

// Marks of the snapshot store say what has been published, and of which revision. The mark of
// a graph has its digest behind it, that of a manifest the digests of the slices and its own;
// earlier versions wrote no digest of graphs and manifests.
const (
	graphMark    = "published/graph/"
	manifestMark = "published/manifest/"
	goneMark     = "published/gone/"
)

func mark(kind string, t lethe.Timestep) []byte { return fmt.Appendf(nil, "%s%d", kind, t) }

const (
	revisionBytes = 4
	digestBytes   = len(lethe.Digest{})
)

// markValue is the value of a mark.
func markValue(r lethe.Revision, digests []lethe.Digest) []byte {
	out := binary.BigEndian.AppendUint32(make([]byte, 0, revisionBytes+len(digests)*digestBytes), uint32(r))
	for _, d := range digests {
		out = append(out, d[:]...)
	}
	return out
}

// published returns the revision that a mark names, or 0 without a mark, and the
// digests behind it. An earlier version wrote no revision, and reopened nothing.
func (p *publisher) published(kind string, t lethe.Timestep) (lethe.Revision, []byte, error) {
	value, found, err := p.store.Marks().Get(mark(kind, t))
	switch {
	case err != nil || !found:
		return 0, nil, err
	case len(value)%digestBytes != revisionBytes:
		return 1, value, nil
	}
	return lethe.Revision(binary.BigEndian.Uint32(value)), value[revisionBytes:], nil
}

// publisher sends graphs, slices and manifests as they are in the store now.
type publisher struct {
	store *snapshot.Store
	turns *role.Turns
	cut   cut
	// ahead, if not nil, may have worked out the slices of a timestep that settles.
	ahead *ahead
	// commitments are made once something is published.
	commitments *commitments
	// decided, if not nil, has what is published in the journal before.
	decided *decisions
}

// publish returns once the messages are in their topic.
func (p *publisher) publish(messages ...wire.Message) error {
	return p.turns.Publish(role.Output{Messages: messages})
}

// graph publishes a closed timestep's graph, without labels.
func (p *publisher) graph(ctx context.Context, t lethe.Timestep) error {
	content, err := p.store.Load(t)
	if err != nil {
		return err
	}
	var d dispatch
	p.addGraph(&d, content)
	return p.send(ctx, &d)
}

// addGraph adds a closed timestep's graph, without labels.
func (p *publisher) addGraph(d *dispatch, content *snapshot.Content) {
	t, unlabelled := content.Info.Timestep, *content.Snapshot
	unlabelled.Nodes = slices.Clone(unlabelled.Nodes)
	for i := range unlabelled.Nodes {
		unlabelled.Nodes[i].Label = lethe.Unknown
	}
	payload, digest := canonical.SealSnapshot(&unlabelled)
	d.graph(p.graphMessage(t, content.Info.Revision, payload, digest))
	d.changes.Graphs = append(d.changes.Graphs, journal.Artefact{
		Timestep: t, Revision: content.Info.Revision, Digest: digest,
	})
}

// graphMessage is what is sent of a graph.
func (p *publisher) graphMessage(t lethe.Timestep, r lethe.Revision, payload []byte, digest lethe.Digest) wire.Message {
	return wire.Message{
		Key: wire.Key{Kind: wire.KindSnapshot, Timestep: t}, Revision: r, Previous: p.previous(t), Payload: payload,
		Digest: digest,
	}
}

// noteGraph notes that a graph was published. If that is lost, it is published again.
func (p *publisher) noteGraph(t lethe.Timestep, r lethe.Revision, digest lethe.Digest) error {
	if p.decided.isShared() {
		return nil // it was, as it was decided
	}
	return p.store.Marks().PutUnsynced(snapshot.Mark{
		Key: mark(graphMark, t), Value: markValue(r, []lethe.Digest{digest}),
	})
}

// gone deletes what was published of a timestep that is gone.
func (p *publisher) gone(ctx context.Context, t lethe.Timestep, r lethe.Revision) error {
	changes := journal.TimestepsChanged{Removed: []journal.Artefact{{Timestep: t, Revision: r}}}
	if err := p.decided.change(ctx, changes, func() error { return nil }); err != nil {
		return err
	}
	return p.delete(t, r)
}

// delete deletes what was published of a timestep.
func (p *publisher) delete(t lethe.Timestep, r lethe.Revision) error {
	deleted := make([]wire.Message, p.cut.shards)
	for shard := range deleted {
		key := wire.Key{Kind: wire.KindSlice, Shard: lethe.ShardID(shard), Timestep: t}
		deleted[shard] = wire.Message{Key: key, Deleted: true}
	}
	if err := p.publish(deleted...); err != nil {
		return err
	}
	if err := p.publish(
		wire.Message{Key: wire.Key{Kind: wire.KindManifest, Timestep: t}, Deleted: true},
		wire.Message{Key: wire.Key{Kind: wire.KindSnapshot, Timestep: t}, Deleted: true},
	); err != nil {
		return err
	}
	if err := p.store.Marks().Put(mark(goneMark, t), markValue(r, nil)); err != nil {
		return err
	}
	return p.commitments.slices(goneSlices(t, r, p.cut.shards))
}

// previous returns the closed timestep before t.
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
func (p *publisher) allSlices(ctx context.Context, t lethe.Timestep) error {
	return p.slices(ctx, t, p.allShards())
}

func (p *publisher) allShards() []lethe.ShardID {
	all := make([]lethe.ShardID, p.cut.shards)
	for i := range all {
		all[i] = lethe.ShardID(i)
	}
	return all
}

// slices publishes the slices of some shards of a settled timestep and the manifest.
func (p *publisher) slices(ctx context.Context, t lethe.Timestep, shards []lethe.ShardID) error {
	content, err := p.store.Load(t)
	if err != nil {
		return err
	}
	var d dispatch
	if err := p.addSlices(&d, content, shards); err != nil {
		return err
	}
	return p.send(ctx, &d)
}

// addSlices adds the slices of some shards of a settled timestep and the
// manifest that names all. The other slices keep the digest they had: at scope
// shard they are not what the present snapshot would give.
func (p *publisher) addSlices(d *dispatch, content *snapshot.Content, shards []lethe.ShardID) error {
	t := content.Info.Timestep
	manifest := &wire.Manifest{
		Timestep: t, Previous: content.Info.Previous,
		Slices: make([]lethe.Digest, p.cut.shards), Labels: wire.LabelsOf(content.Snapshot),
	}
	if len(shards) < p.cut.shards {
		if err := p.lastDigests(t, manifest.Slices); err != nil {
			return err
		}
	}
	payloads, err := p.encoded(content, shards)
	if err != nil {
		return err
	}
	for i, shard := range shards {
		manifest.Slices[shard] = canonical.DigestOf(payloads[i])
		d.slice(wire.Message{
			Key:      wire.Key{Kind: wire.KindSlice, Shard: shard, Timestep: t},
			Revision: content.Info.Revision, Payload: payloads[i], Digest: manifest.Slices[shard],
		})
		d.leaves = append(d.leaves, translog.Slice{
			Timestep: t, Shard: shard, Revision: content.Info.Revision, Digest: manifest.Slices[shard],
		})
	}
	payload := manifest.Encode()
	d.manifests = append(d.manifests, wire.Message{
		Key:      wire.Key{Kind: wire.KindManifest, Timestep: t},
		Revision: content.Info.Revision, Payload: payload,
	})
	d.changes.Manifests = append(d.changes.Manifests, journal.Artefact{
		Timestep: t, Revision: content.Info.Revision, Digest: canonical.DigestOf(payload), Slices: manifest.Slices,
	})
	return nil
}

// encoded returns slices of a settled timestep as bytes.
func (p *publisher) encoded(content *snapshot.Content, shards []lethe.ShardID) ([][]byte, error) {
	if len(shards) == p.cut.shards && p.ahead != nil {
		if payloads := p.ahead.encoded(content); payloads != nil {
			return payloads, nil
		}
	}
	return p.cut.encoded(content, shards)
}

// lastDigests reads the slice digests of the manifest published last.
func (p *publisher) lastDigests(t lethe.Timestep, into []lethe.Digest) error {
	revision, digests, err := p.published(manifestMark, t)
	if err != nil {
		return err
	}
	without, with := len(into)*digestBytes, (len(into)+1)*digestBytes
	if revision == 0 || len(digests) != without && len(digests) != with {
		return fmt.Errorf("timestep %d: no manifest of %d slices was published", t, len(into))
	}
	for i := range into {
		copy(into[i][:], digests[i*digestBytes:])
	}
	return nil
}

// digests are those of what was published last of a timestep.
func (p *publisher) digests(t lethe.Timestep) (out deletions.Published, err error) {
	_, graph, err := p.published(graphMark, t)
	if err != nil {
		return out, err
	}
	_, manifest, err := p.published(manifestMark, t)
	if err != nil {
		return out, err
	}
	copy(out.Graph[:], graph)
	slicesBytes := p.cut.shards * digestBytes
	if len(manifest) < slicesBytes {
		return out, nil
	}
	copy(out.Manifest[:], manifest[slicesBytes:])
	out.Slices = make([]lethe.Digest, p.cut.shards)
	for i := range out.Slices {
		copy(out.Slices[i][:], manifest[i*digestBytes:])
	}
	return out, nil
}
