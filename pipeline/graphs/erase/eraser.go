// Package erase implements the coordinator's view of the graphs: it plans erasures, suppresses targets, rewrites
// stores and searches them.
//
//	eraser.go       the interface to the coordinator
//	plan.go         the changes of an erasure; forms.go, the searched forms; affected.go, changed slices and remaining
//	                stubs; repartition.go, partitioning without the targets
//	rewrite.go      deleting targets from the graphs
//	scrubbing.go    rewriting staging
//	search.go       searching staging and rewritten stores
//	suppression.go  suppressing targets
//	carriers.go     carriers of subjects; removal.go, the deleted part of a timestep
package erase

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"

	"lethe"
	"lethe/canonical"
	"lethe/deletions"
	"lethe/deletions/coordinator"
	"lethe/deletions/scan"
	"lethe/pipeline/graphs/beside"
	"lethe/pipeline/graphs/publish"
	"lethe/pipeline/wire"
	"lethe/snapshot/index"
)

// Eraser implements coordinator.Graphs.
type Eraser struct {
	*planner
	suppression
	search
	rewriter
	// Scrubbing rewrites staging.
	Scrubbing Scrubbing
	publisher *publish.Publisher
}

// New returns an eraser for the store of a publisher. files are the files of the store, and publishMissing publishes
// deletions of timesteps and their changed successors.
func New(
	c Carriers, p *publish.Publisher, files fs.FS, running *beside.Running, publishMissing func(context.Context) error,
) *Eraser {
	a := &repartitioner{publisher: p}
	return &Eraser{
		planner: &planner{c, p, a, forms{c.Secret}}, suppression: suppression{c, p.Decisions}, search: search{c.Store, files},
		rewriter:  rewriter{c.Store, p, a, publishMissing},
		Scrubbing: Scrubbing{Store: c.Store, Running: running}, publisher: p,
	}
}

// Forget empties the cache of plans at scope partition.
func (e *Eraser) Forget() { e.planner.repartitioner.forget() }

var _ coordinator.Graphs = (*Eraser)(nil)

// Alike implements coordinator.Graphs.
func (e *Eraser) Alike(contents []scan.MAC) ([]bool, error) {
	asked := make([]index.Content, len(contents))
	for i, content := range contents {
		asked[i] = index.Content(content)
	}
	return e.Store.Marks().HasContents(asked)
}

// BeginScrub implements coordinator.Graphs.
func (e *Eraser) BeginScrub(ctx context.Context) (ended func() bool, err error) {
	s, err := e.Scrubbing.Begin(ctx)
	if err != nil {
		return nil, err
	}
	return s.Ended, nil
}

// Steps implements coordinator.Graphs.
func (e *Eraser) Steps(replaced []coordinator.Replaced) []wire.CommandStep {
	gone := e.Store.Gone()
	var steps []wire.CommandStep
	for _, r := range replaced {
		info := e.Store.Info(r.Timestep)
		step := wire.CommandStep{
			Timestep: r.Timestep, Revision: cmp.Or(r.Revision, info.Revision), Settled: info.State == lethe.Settled,
			Shards: append([]lethe.ShardID{}, r.Shards...),
		}
		if revision, isGone := gone[r.Timestep]; isGone {
			step.Revision, step.Settled, step.Gone = revision, false, true
		} else if info.State == lethe.Open || info.Revision == 0 {
			continue
		}
		steps = append(steps, step)
	}
	return steps
}

// Outdated implements coordinator.Graphs.
func (e *Eraser) Outdated(list []deletions.SliceRef) ([]bool, error) {
	out := make([]bool, len(list))
	for i, ref := range list {
		if e.Store.Info(ref.Timestep).State != lethe.Settled {
			continue // it was emptied since
		}
		content, err := e.Store.Load(ref.Timestep)
		if err != nil {
			return nil, err
		}
		published, err := publish.SlicesOf(e.Store, ref.Timestep, e.publisher.Cutter.Shards)
		if err != nil {
			return nil, err
		}
		now, err := e.publisher.Cutter.One(content, ref.Shard)
		if err != nil {
			return nil, fmt.Errorf("slice of timestep %d, shard %d: %w", ref.Timestep, ref.Shard, err)
		}
		out[i] = canonical.DigestSlice(now) != published[ref.Shard]
	}
	return out, nil
}

// Published implements coordinator.Graphs.
func (e *Eraser) Published(timesteps []lethe.Timestep) (map[lethe.Timestep]deletions.Published, error) {
	out, gone := make(map[lethe.Timestep]deletions.Published), e.Store.Gone()
	for _, t := range timesteps {
		if _, isGone := gone[t]; isGone {
			continue
		}
		known, err := e.publisher.Last(t)
		if err != nil {
			return nil, err
		}
		out[t] = known
	}
	return out, nil
}
