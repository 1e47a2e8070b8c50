package publish

import (
	"slices"

	"lethe"
	"lethe/canonical"
	"lethe/deletions"
	"lethe/deletions/translog"
	"lethe/pipeline/graphs/cutting"
	"lethe/pipeline/journal"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

// Encoder encodes graphs, slices and manifests of the store.
type Encoder struct {
	Store  *snapshot.Store
	Cutter *cutting.Cutter
}

// AddGraph adds a closed timestep's graph, without labels, and returns its digest.
func (e Encoder) AddGraph(d *Dispatch, content *snapshot.Content) lethe.Digest {
	t, unlabelled := content.Info.Timestep, *content.Snapshot
	unlabelled.Nodes = slices.Clone(unlabelled.Nodes)
	for i := range unlabelled.Nodes {
		unlabelled.Nodes[i].Label = lethe.Unknown
	}
	payload, digest := canonical.SealSnapshot(&unlabelled)
	d.graph(e.GraphMessage(t, content.Info.Revision, payload, digest))
	d.changes.Graphs = append(d.changes.Graphs, journal.Artefact{
		Timestep: t, Revision: content.Info.Revision, Digest: digest,
	})
	return digest
}

// GraphMessage returns the message of a graph.
func (e Encoder) GraphMessage(t lethe.Timestep, r lethe.Revision, payload []byte, digest lethe.Digest) wire.Message {
	return wire.Message{
		Key: wire.Key{Kind: wire.KindSnapshot, Timestep: t}, Revision: r, Previous: e.previous(t), Payload: payload,
		Digest: digest,
	}
}

// previous returns the closed timestep before t.
func (e Encoder) previous(t lethe.Timestep) lethe.Timestep {
	before := lethe.NoTimestep
	for _, info := range e.Store.Timesteps() {
		if info.Timestep < t && info.State != lethe.Open {
			before = max(before, info.Timestep)
		}
	}
	return before
}

// AddSlices adds the slices of some shards of a settled timestep, and its manifest. Other slices keep their published
// digests: at scope shard the present snapshot would give others.
func (e Encoder) AddSlices(d *Dispatch, content *snapshot.Content, shards []lethe.ShardID) (err error) {
	t := content.Info.Timestep
	digests := make([]lethe.Digest, e.Cutter.Shards)
	if len(shards) < e.Cutter.Shards {
		if digests, err = SlicesOf(e.Store, t, e.Cutter.Shards); err != nil {
			return err
		}
	}
	payloads, err := e.Cutter.Encoded(content, shards)
	if err != nil {
		return err
	}
	for i, shard := range shards {
		digests[shard] = canonical.DigestOf(payloads[i])
		d.slice(wire.Message{
			Key:      wire.Key{Kind: wire.KindSlice, Shard: shard, Timestep: t},
			Revision: content.Info.Revision, Payload: payloads[i], Digest: digests[shard],
		})
		d.leaves = append(d.leaves, translog.Slice{
			Timestep: t, Shard: shard, Revision: content.Info.Revision, Digest: digests[shard],
		})
	}
	payload := manifestOf(content, digests).Encode()
	d.manifests = append(d.manifests, wire.Message{
		Key:      wire.Key{Kind: wire.KindManifest, Timestep: t},
		Revision: content.Info.Revision, Payload: payload,
	})
	d.changes.Manifests = append(d.changes.Manifests, journal.Artefact{
		Timestep: t, Revision: content.Info.Revision, Digest: canonical.DigestOf(payload), Slices: digests,
	})
	return nil
}

// manifestOf returns the manifest of a settled timestep.
func manifestOf(content *snapshot.Content, digests []lethe.Digest) *wire.Manifest {
	return &wire.Manifest{
		Timestep: content.Info.Timestep, Previous: content.Info.Previous, Slices: digests,
		Labels: wire.LabelsOf(content.Snapshot),
	}
}

// leaves returns the leaves of a timestep's slices; zero digests mean that there are none.
func (e Encoder) leaves(t lethe.Timestep, r lethe.Revision, digests []lethe.Digest) (out []translog.Leaf) {
	for shard := range lethe.ShardID(e.Cutter.Shards) {
		out = append(out, translog.Slice{Timestep: t, Shard: shard, Revision: r, Digest: digests[shard]})
	}
	return out
}

// Compare returns the shards whose slices of a settled timestep are the last published ones, and the others.
func (e Encoder) Compare(content *snapshot.Content) (same, others []lethe.ShardID, err error) {
	last, err := SlicesOf(e.Store, content.Info.Timestep, e.Cutter.Shards)
	if err != nil {
		return nil, nil, err
	}
	digests, err := e.Cutter.Digests(content)
	for i, digest := range digests {
		if digest == last[i] {
			same = append(same, lethe.ShardID(i))
		} else {
			others = append(others, lethe.ShardID(i))
		}
	}
	return same, others, err
}

// Last returns the digests of the last published artefacts of a timestep.
func (e Encoder) Last(t lethe.Timestep) (out deletions.Published, err error) {
	_, graph, err := Graph.Of(e.Store, t)
	if err != nil {
		return out, err
	}
	_, manifest, err := Manifest.Of(e.Store, t)
	if err != nil {
		return out, err
	}
	if len(graph) > 0 {
		out.Graph = graph[0]
	}
	if len(manifest) > e.Cutter.Shards {
		out.Slices, out.Manifest = manifest[:e.Cutter.Shards], manifest[e.Cutter.Shards]
	}
	return out, nil
}

// manifestDigest is that of the manifest that an entry names, zero if it differs here. The slices are compared too:
// after an erasure a process that partitions the timestep without the target gets other shards than the leader, which
// keeps those of the other transactions. Slices that stayed as published before may not be what the graph gives now.
func (e Encoder) manifestDigest(a journal.Artefact, content *snapshot.Content) (digest lethe.Digest, err error) {
	if content.Info.State != lethe.Settled || len(a.Slices) != e.Cutter.Shards {
		return digest, nil
	}
	last := make([]lethe.Digest, e.Cutter.Shards)
	if revision, _, err := Manifest.Of(e.Store, a.Timestep); err != nil {
		return digest, err
	} else if revision > 0 {
		if last, err = SlicesOf(e.Store, a.Timestep, e.Cutter.Shards); err != nil {
			return digest, err
		}
	}
	own, err := e.Cutter.Digests(content)
	if err != nil {
		return digest, err
	}
	for i, d := range a.Slices {
		if own[i] != d && last[i] != d {
			return digest, nil
		}
	}
	return canonical.DigestOf(manifestOf(content, a.Slices).Encode()), nil
}
