package graphs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/translog"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

// commitments have the log commit to slices, once they are published, and to the models
// that train says it has made.
type commitments struct {
	log    *translog.Log
	store  *snapshot.Store
	secret lethe.Secret
	logger *slog.Logger
}

// slices commits to slices that were published.
func (c *commitments) slices(list []translog.Leaf) error {
	if c.log == nil {
		return nil // this process stands by
	}
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
		if info.State != lethe.Settled || len(digests) < p.cut.shards*digestBytes {
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

// models commits to what train said in a batch of control.v1, which is read from its
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

// accesses has what people did through the API in the log, and deletes the records that said so. One
// that a crash leaves there says nothing new.
func (c *commitments) accesses(ctx context.Context, batch bus.Batch, out wire.Publisher) error {
	source := "access/" + batch.Source.String()
	known, err := c.log.Position(source)
	if err != nil {
		return err
	}
	var list []translog.Leaf
	var gone []ingest.Outgoing
	for _, rec := range batch.Records {
		said, found, err := wire.ParseAccess(rec)
		deed := translog.Deed(said.Deed)
		switch {
		case rec.Offset < known:
		case err != nil, found && !deed.Valid():
			c.logger.Error("what somebody is said to have done, which no process of this version and secret has written, was "+
				"passed over", "topic", rec.Topic, "partition", rec.Partition, "offset", rec.Offset)
		case found:
			list = append(list, translog.Access{
				Deed: deed, At: said.At, Actor: said.Actor, Request: said.Request, Count: said.Count,
			})
			gone = append(gone, ingest.Outgoing{Key: bytes.Clone(rec.Key)})
		}
	}
	if len(list) == 0 {
		return nil
	}
	if _, err := c.log.CommitThrough(source, batch.Next, list...); err != nil {
		return fmt.Errorf("%d accesses: %w", len(list), err)
	}
	if err := c.log.Publish(ctx, out); err != nil { // for whoever takes over, who finds no record any more
		return err
	}
	return out.Write(ctx, bus.Control, gone)
}

// goneOf is what a plan takes out of slices wherever it stands there: what goes with subjects, which
// follows the targets that the request names, and features.
func (e carriers) goneOf(targets []lethe.Target, named int) (gone deletions.Gone) {
	for i, t := range targets {
		switch {
		case t.Kind == lethe.FeaturesTarget:
			var columns []int
			for k := range e.store.FeatureCount() { // behind these a slice has means of neighbours
				if t.Columns.Hold(k) {
					columns = append(columns, k)
				}
			}
			of := e.secret.Pseudonym(t.Transaction)
			gone.Features = append(gone.Features, deletions.GoneFeatures{Of: of, Columns: columns})
		case i >= named && t.Kind == lethe.TransactionTarget:
			gone.Transactions = append(gone.Transactions, e.secret.Pseudonym(t.Transaction))
		}
	}
	return gone
}

// gone returns for each of several requests which transactions of a timestep are joined no more
// once all are carried out, and the stubs that stand for them then nowhere any more. At scope shard
// those for transactions stay.
func (c cut) gone(s *lethe.Snapshot, requests []lethe.Removal, scope lethe.Scope) []deletions.Gone {
	out, all := make([]deletions.Gone, len(requests)), together(requests)
	takes := func(r lethe.Removal, p lethe.PseudonymPair) bool {
		return r.Nodes[p.Source] || r.Nodes[p.Target] || r.Payments[p]
	}
	stays := make(map[lethe.PseudonymPair]bool)
	for _, payment := range s.Payments {
		if p := s.Pair(payment); !takes(all, p) {
			stays[p], stays[lethe.PseudonymPair{Source: p.Target, Target: p.Source}] = true, true
		}
	}
	for _, payment := range s.Payments {
		p := s.Pair(payment)
		if stays[p] || !takes(all, p) {
			continue
		}
		for i, own := range requests {
			c.goneWith(own, all, p, scope, stubsAt{s.Timestep, &out[i]})
		}
	}
	return out
}

// stubsAt is what goes of a timestep.
type stubsAt struct {
	timestep lethe.Timestep
	gone     *deletions.Gone
}

// goneWith adds what goes with a payment on account of one request out of all.
func (c cut) goneWith(own, all lethe.Removal, p lethe.PseudonymPair, scope lethe.Scope, to stubsAt) {
	stub := func(list *[]deletions.GoneStub, owner, missing lethe.Pseudonym) {
		if lambda, tells := c.repair.StubFor(to.timestep, owner, missing); tells {
			*list = append(*list, deletions.GoneStub{Owner: owner, Lambda: lambda})
		}
	}
	source, target := own.Nodes[p.Source], own.Nodes[p.Target]
	switch gone := to.gone; {
	case all.Nodes[p.Source] && all.Nodes[p.Target]:
	case (source || target) && scope == lethe.ScopeShard:
	case source:
		stub(&gone.Stubs, p.Target, p.Source)
	case target:
		stub(&gone.Stubs, p.Source, p.Target)
	case own.Payments[p] && !all.Nodes[p.Source] && !all.Nodes[p.Target]:
		gone.Pairs = append(gone.Pairs, p)
		stub(&gone.PairStubs, p.Source, p.Target)
		stub(&gone.PairStubs, p.Target, p.Source)
	}
}

// startLog opens the transparency log, compares it with what was published of it, and has
// the ledger written down in it from now on.
func startLog(ctx context.Context, o Options, kv deletions.KV, ledger *deletions.Ledger) (*translog.Log, error) {
	signer, err := translog.NewSigner(translog.Name(o.Erasure.Deployment.String()), o.Erasure.SigningKey)
	if err != nil {
		return nil, fmt.Errorf("transparency log: %w", err)
	}
	entries, err := ledger.List()
	if err != nil {
		return nil, err
	}
	holds, err := ledger.Holds()
	if err != nil {
		return nil, err
	}
	log := translog.NewLog(kv, signer)
	if before := o.Erasure.KeyBefore; before != nil && !before.Equal(o.Erasure.SigningKey) {
		log.Follow(before, o.Clock.Now())
	}
	late := func(rec ingest.Record) bool { return o.leaders.Stale(bus.Log, rec) }
	err = log.Start(ctx, o.Bus, late, deletions.Changes{Entries: entries, Holds: holds})
	var refusal *translog.Refusal
	if errors.As(err, &refusal) && refusal.Statement == translog.StatementKey {
		return nil, fmt.Errorf("%w: %w (put the signing key of before back; lethe log rotate-key replaces it by a new one)",
			ErrLost, err)
	}
	if errors.As(err, &refusal) {
		return nil, fmt.Errorf("%w: %w (put the folder %s/ledger back from a newer copy, or remove it, "+
			"to have it made again from the topics)", ErrLost, err, o.Dir)
	}
	if err != nil {
		return nil, err
	}
	ledger.Keep(log)
	return log, nil
}
