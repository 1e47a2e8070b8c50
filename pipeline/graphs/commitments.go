package graphs

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"lethe"
	"lethe/deletions/translog"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// commitments have the log commit to slices, once they are published, and to the models
// that train says it has made.
type commitments struct {
	log    *translog.Log
	store  Store
	secret lethe.Secret
	logger *slog.Logger
}

// slices commits to slices that were published.
func (c *commitments) slices(list []translog.Leaf) error {
	if _, err := c.log.Commit(list...); err != nil {
		return fmt.Errorf("commit to %d slices: %w", len(list), err)
	}
	return nil
}

// missing commits to what was published before and is not committed to: a crash came
// between, or the version before kept no log.
func (c *commitments) missing(p *publisher) error {
	var list []translog.Leaf
	for _, info := range c.store.Timesteps() {
		revision, digests, err := p.published(manifestMark, info.Timestep)
		if err != nil {
			return err
		}
		if info.State != lethe.Settled || len(digests) != p.cut.shards*digestBytes {
			continue
		}
		for shard := range lethe.ShardID(p.cut.shards) {
			digest := lethe.Digest(digests[int(shard)*digestBytes:][:digestBytes])
			list = append(list, translog.Slice{
				Timestep: info.Timestep, Shard: shard, Revision: revision, Digest: digest,
			})
		}
	}
	gone := c.store.Gone()
	for _, t := range slices.Sorted(maps.Keys(gone)) {
		revision, _, err := p.published(goneMark, t)
		if err != nil {
			return err
		}
		if revision > 0 {
			list = append(list, goneSlices(t, revision, p.cut.shards)...)
		}
	}
	return c.slices(list)
}

// goneSlices commit to there being no slices of a timestep.
func goneSlices(t lethe.Timestep, r lethe.Revision, shards int) (out []translog.Leaf) {
	for shard := range lethe.ShardID(shards) {
		out = append(out, translog.Slice{Timestep: t, Shard: shard, Revision: r})
	}
	return out
}

// models commits to what train said in a batch of erasure-status.v1, which is read from its
// start at every start: what stands before the position that the log has is known.
func (c *commitments) models(batch bus.Batch) error {
	source := batch.Source.String()
	known, err := c.log.Position(source)
	if err != nil {
		return err
	}
	var list []translog.Leaf
	for _, rec := range batch.Records {
		if rec.Offset < known {
			continue
		}
		said, found, err := wire.ParseCommitment(c.secret, rec)
		switch {
		case err != nil:
			c.logger.Error("a commitment that no process with this secret has made was passed over", "topic", rec.Topic,
				"partition", rec.Partition, "offset", rec.Offset)
		case found && said.Setup:
			list = append(list, translog.Setup{Digest: said.Digest})
		case found:
			list = append(list, translog.Checkpoint{
				Component: said.Component, Group: said.Group, Timestep: said.Timestep, Lineage: said.Lineage,
				Digest: said.Digest,
			})
		}
	}
	if len(list) == 0 {
		return nil
	}
	if _, err := c.log.CommitThrough(source, batch.Next, list...); err != nil {
		return fmt.Errorf("commit to %d models: %w", len(list), err)
	}
	return nil
}
