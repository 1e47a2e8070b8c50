package graphs

import (
	"context"
	"fmt"
	"time"

	"lethe"
	"lethe/canonical"
	"lethe/ingest"
	"lethe/metrics/events"
	"lethe/partition"
	"lethe/partition/graph"
	"lethe/partition/repair"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

// Marks of the snapshot store say what has been published.
const (
	graphMark    = "published/graph/"
	manifestMark = "published/manifest/"
)

func mark(kind string, t lethe.Timestep) []byte { return fmt.Appendf(nil, "%s%d", kind, t) }

// advanceTimesteps closes and settles what is ready, and publishes what a crash
// left unpublished.
func (r *Role) advanceTimesteps(ctx context.Context) error {
	for {
		toClose, toSettle := r.store.Ready()
		if len(toClose)+len(toSettle) == 0 {
			return r.publishMissing(ctx)
		}
		for _, t := range toClose {
			if err := r.closeTimestep(ctx, t); err != nil {
				return fmt.Errorf("close timestep %d: %w", t, err)
			}
		}
		for _, t := range toSettle {
			if err := r.settleTimestep(ctx, t); err != nil {
				return fmt.Errorf("settle timestep %d: %w", t, err)
			}
		}
	}
}

// publishMissing publishes graphs and slices of timesteps that are closed or
// settled and have no mark.
func (r *Role) publishMissing(ctx context.Context) error {
	for _, info := range r.store.Timesteps() {
		if info.State == lethe.Open || r.published[info.Timestep] == info.State {
			continue
		}
		if err := r.publishTimestep(ctx, info); err != nil {
			return fmt.Errorf("publish timestep %d: %w", info.Timestep, err)
		}
		r.published[info.Timestep] = info.State
	}
	return nil
}

func (r *Role) publishTimestep(ctx context.Context, info snapshot.Info) error {
	t := info.Timestep
	_, done, err := r.store.Marks().Get(mark(graphMark, t))
	if err != nil {
		return err
	}
	if !done {
		if err := r.settleRefusals(ctx, t); err != nil {
			return err
		}
		if err := r.publishGraph(ctx, t); err != nil {
			return err
		}
	}
	if info.State != lethe.Settled {
		return nil
	}
	if _, done, err = r.store.Marks().Get(mark(manifestMark, t)); err != nil || done {
		return err
	}
	if err := r.settleRefusals(ctx, t); err != nil {
		return err
	}
	return r.publishSlices(ctx, t, nil)
}

// closeTimestep completes a graph and publishes it to be scored.
func (r *Role) closeTimestep(ctx context.Context, t lethe.Timestep) error {
	started := time.Now()
	if _, _, err := r.store.CloseTimestep(ctx, t); err != nil {
		return err
	}
	r.o.Listener.SnapshotChanged(events.SnapshotChanged{Timestep: t, State: lethe.Closed, Duration: time.Since(started)})
	return r.publishMissing(ctx)
}

// settleTimestep cuts a graph into shards once its labels are in.
func (r *Role) settleTimestep(ctx context.Context, t lethe.Timestep) error {
	started := time.Now()
	assign := func(g *lethe.Snapshot) ([]lethe.ShardID, error) { return r.assign(ctx, g) }
	if _, _, err := r.store.SettleTimestep(ctx, t, assign); err != nil {
		return err
	}
	r.o.Listener.SnapshotChanged(events.SnapshotChanged{Timestep: t, State: lethe.Settled, Duration: time.Since(started)})
	return r.publishMissing(ctx)
}

// assign partitions a snapshot.
func (r *Role) assign(ctx context.Context, s *lethe.Snapshot) ([]lethe.ShardID, error) {
	started := time.Now()
	g, err := graph.FromSnapshot(s)
	if err != nil {
		return nil, err
	}
	assignment, report, err := partition.Run(ctx, g, r.o.Partition)
	if err != nil {
		return nil, err
	}
	r.o.Listener.SnapshotPartitioned(events.SnapshotPartitioned{
		Timestep: s.Timestep, Balance: report.Scores.Balance, Fairness: report.Scores.Fairness,
		EdgeCut: report.Scores.EdgeCut, Duration: time.Since(started),
	})
	return assignment, nil
}

// publishGraph publishes a closed timestep's graph.
func (r *Role) publishGraph(ctx context.Context, t lethe.Timestep) error {
	content, err := r.store.Load(t)
	if err != nil {
		return err
	}
	if err := wire.Publish(ctx, r.o.Client, 1, wire.Message{
		Key:      wire.Key{Kind: wire.KindSnapshot, Timestep: t},
		Revision: content.Info.Revision,
		Previous: r.previous(t),
		Payload:  canonical.EncodeSnapshot(content.Snapshot),
	}); err != nil {
		return fmt.Errorf("publish graph: %w", err)
	}
	return r.store.Marks().Put(mark(graphMark, t), nil)
}

// previous returns the closed timestep before t. Timesteps close in ascending
// order, so it never changes.
func (r *Role) previous(t lethe.Timestep) lethe.Timestep {
	before := lethe.NoTimestep
	for _, info := range r.store.Timesteps() {
		if info.Timestep < t && info.State != lethe.Open {
			before = max(before, info.Timestep)
		}
	}
	return before
}

// publishSlices publishes the slices of some shards of a settled timestep, or
// of all, and the manifest that names all of them. The other slices keep the
// digest they had: at scope shard they are not what the present snapshot would
// give.
func (r *Role) publishSlices(ctx context.Context, t lethe.Timestep, shards []lethe.ShardID) error {
	content, err := r.store.Load(t)
	if err != nil {
		return err
	}
	manifest := &wire.Manifest{
		Timestep: t, Previous: content.Info.Previous,
		Slices: make([]lethe.Digest, r.o.Shards), Labels: wire.LabelsOf(content.Snapshot),
	}
	if shards == nil {
		for shard := range lethe.ShardID(r.o.Shards) {
			shards = append(shards, shard)
		}
	} else if err := r.lastDigests(t, manifest.Slices); err != nil {
		return err
	}
	messages := make([]wire.Message, 0, len(shards))
	for _, shard := range shards {
		s, err := repair.OneSlice(content.Snapshot, manifest.Previous, content.Assignment, r.o.Shards, shard, r.o.Repair)
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
	if err := wire.Publish(ctx, r.o.Client, r.slicePartitions, messages...); err != nil {
		return fmt.Errorf("publish slices: %w", err)
	}
	payload := manifest.Encode()
	if err := wire.Publish(ctx, r.o.Client, 1, wire.Message{
		Key:      wire.Key{Kind: wire.KindManifest, Timestep: t},
		Revision: content.Info.Revision, Payload: payload,
	}); err != nil {
		return fmt.Errorf("publish manifest: %w", err)
	}
	return r.store.Marks().Put(mark(manifestMark, t), digestsOf(manifest))
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
func (r *Role) lastDigests(t lethe.Timestep, into []lethe.Digest) error {
	value, found, err := r.store.Marks().Get(mark(manifestMark, t))
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

// settleRefusals writes the records that were judged when a timestep closed or
// settled to the dead letters, and only then forgets them.
func (r *Role) settleRefusals(ctx context.Context, t lethe.Timestep) error {
	refused, err := r.store.Refused(t)
	if err != nil || len(refused) == 0 {
		return err
	}
	letters := make([]ingest.Outgoing, 0, len(refused))
	for _, f := range refused {
		letters = append(letters, r.deadLetter(recordOf(f.Origin), &ingest.Refusal{Reason: ingest.Reason(f.Reason), Detail: f.Detail}))
	}
	if err := r.writeLetters(ctx, letters); err != nil {
		return err
	}
	return r.store.ConfirmRefused(t)
}
