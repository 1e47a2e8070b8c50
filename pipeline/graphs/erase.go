package graphs

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"lethe"
	"lethe/canonical"
	"lethe/deletions"
	"lethe/deletions/coordinator"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/internal/swapstore"
	"lethe/partition/repair"
	"lethe/pipeline/journal"
	"lethe/pipeline/wire"
	"lethe/snapshot"
	"lethe/snapshot/index"
)

// eraser is what the coordinator sees of the graphs.
type eraser struct {
	carriers
	suppression
	// files are those of the store.
	files     fs.FS
	publisher *publisher
	// afresh deals timesteps to shards at scope partition.
	afresh afresh
	// scrubbing writes staging anew.
	scrubbing scrubbing
	// publishMissing publishes what is gone, and what that relinked.
	publishMissing func(context.Context) error
}

var _ coordinator.Graphs = (*eraser)(nil)

// Alike implements coordinator.Graphs.
func (e *eraser) Alike(contents []scan.MAC) ([]bool, error) {
	asked := make([]index.Content, len(contents))
	for i, content := range contents {
		asked[i] = index.Content(content)
	}
	return e.store.Marks().HasContents(asked)
}

// Rewrite implements coordinator.Graphs.
func (e *eraser) Rewrite(
	ctx context.Context, requests []lethe.Digest, targets []lethe.Target, replaced []coordinator.Replaced,
) error {
	entry := journal.Rewritten{Requests: requests}
	for _, r := range replaced {
		entry.Replaced = append(entry.Replaced, journal.Replaced(r))
	}
	err := e.publisher.decided.decide(ctx, entry, func() error { return e.rewrite(ctx, targets, replaced) })
	if err != nil {
		return err
	}
	if err := e.publishMissing(ctx); err != nil {
		return err
	}
	if err := e.publisher.replaced(ctx, e.infos(), replaced); err != nil {
		return fmt.Errorf("publish what was rewritten: %w", err)
	}
	return nil
}

// rewrite takes targets out of the graphs.
func (e *eraser) rewrite(ctx context.Context, targets []lethe.Target, replaced []coordinator.Replaced) error {
	if err := e.store.Erase(ctx, targets); err != nil {
		return err
	}
	if err := e.repartition(ctx, replaced); err != nil {
		return err
	}
	return e.publisher.renew(ctx, replaced)
}

// BeginScrub implements coordinator.Graphs.
func (e *eraser) BeginScrub(ctx context.Context) (coordinator.Scrub, error) {
	s, err := e.scrubbing.begin(ctx)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Search implements coordinator.Graphs: it reads staging and the stores of the
// timesteps.
func (e *eraser) Search(
	ctx context.Context, scanner *scan.Scanner, replaced []coordinator.Replaced,
) (scan.Report, error) {
	folders := []string{snapshot.StagingFolder}
	for _, r := range replaced {
		folders = append(folders, snapshot.TimestepFolder(r.Timestep))
	}
	report, err := scanner.ScanDir(ctx, scan.Some(e.files, func(path string) bool {
		top, _, _ := strings.Cut(path, "/")
		return slices.Contains(folders, top)
	}))
	if err != nil {
		return report, err
	}
	hits, err := searchOriginals(e.store, scanner)
	report.Hits = append(report.Hits, hits...)
	if err != nil {
		return report, err
	}
	hits, err = searchRows(e, scanner, replaced)
	report.Hits = append(report.Hits, hits...)
	return report, err
}

// searchOriginals looks at what the records in staging say: they are kept as their
// producers spelled them.
func searchOriginals(store Store, scanner *scan.Scanner) (hits []scan.FileHit, err error) {
	err = store.Originals(func(o snapshot.Origin) error {
		for _, h := range scanner.MatchRecord(o.Key, ingest.Spelled(o.Parts())...) {
			hits = append(hits, scan.FileHit{Path: snapshot.StagingFolder, Hit: h})
		}
		return nil
	})
	return hits, err
}

// Steps implements coordinator.Graphs.
func (e *eraser) Steps(replaced []coordinator.Replaced) []wire.CommandStep {
	infos, gone := e.infos(), e.store.Gone()
	var steps []wire.CommandStep
	for _, r := range replaced {
		info := infos[r.Timestep]
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
func (e *eraser) Outdated(list []deletions.SliceRef) ([]bool, error) {
	out := make([]bool, len(list))
	infos, published := e.infos(), make([]lethe.Digest, e.publisher.cut.shards)
	for i, ref := range list {
		if infos[ref.Timestep].State != lethe.Settled {
			continue // it was emptied since
		}
		content, err := e.store.Load(ref.Timestep)
		if err != nil {
			return nil, err
		}
		if err := e.publisher.lastDigests(ref.Timestep, published); err != nil {
			return nil, err
		}
		now, err := repair.OneSlice(content.Snapshot, content.Info.Previous, content.Assignment, e.publisher.cut.shards,
			ref.Shard, e.publisher.cut.repair)
		if err != nil {
			return nil, fmt.Errorf("slice of timestep %d, shard %d: %w", ref.Timestep, ref.Shard, err)
		}
		out[i] = canonical.DigestSlice(now) != published[ref.Shard]
	}
	return out, nil
}

// infos are the timesteps as they are now.
func (e *eraser) infos() map[lethe.Timestep]snapshot.Info { return infosOf(e.store) }

func infosOf(store Store) map[lethe.Timestep]snapshot.Info {
	out := make(map[lethe.Timestep]snapshot.Info)
	for _, info := range store.Timesteps() {
		out[info.Timestep] = info
	}
	return out
}

// positionsOf returns where the snapshot holds the located, ascending, each once.
func positionsOf(s *lethe.Snapshot, located []snapshot.Located) []int {
	var out []int
	for _, l := range located {
		if node, found := s.Find(l.Pseudonym); found {
			out = append(out, node)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Published implements coordinator.Graphs.
func (e *eraser) Published(timesteps []lethe.Timestep) (map[lethe.Timestep]deletions.Published, error) {
	out, gone := make(map[lethe.Timestep]deletions.Published), e.store.Gone()
	for _, t := range timesteps {
		if _, isGone := gone[t]; isGone {
			continue
		}
		known, err := e.publisher.digests(t)
		if err != nil {
			return nil, err
		}
		out[t] = known
	}
	return out, nil
}

// searched searches the folder for what a command erases, and says what was found.
func (s *standby) searched(ctx context.Context, e *erasure, step deletions.Step) (deletions.Ack, error) {
	c, a := e.Command, s.erasures.Ack(e, step)
	scanner, err := scan.NewRecordScanner(s.o.Secret, s.o.Limits.Normalise, c.Fingerprints)
	if err != nil {
		return a, err
	}
	hits, err := searchOriginals(s.store, scanner)
	if err != nil {
		return a, err
	}
	summary, err := c.Search(ctx, s.o.Secret, swapstore.Files(s.o.FS, s.o.Dir), s.o.Pacer)
	summary.Hits += len(hits)
	a.Scan = &summary
	return a, err
}
