package graphs

import (
	"context"
	"slices"

	"lethe"
	"lethe/deletions/coordinator"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

// eraser is what the coordinator sees of the graphs.
type eraser struct {
	store     Store
	publisher *publisher
	secret    lethe.Secret
}

var _ coordinator.Graphs = (*eraser)(nil)

// Locate implements coordinator.Graphs.
func (e *eraser) Locate(targets []lethe.Target) ([]coordinator.Location, error) {
	located, err := e.store.Locate(targets)
	if err != nil {
		return nil, err
	}
	out := make([]coordinator.Location, len(located))
	for i, l := range located {
		out[i] = coordinator.Location{Known: l.Known, Suppressed: l.Suppressed}
	}
	return out, nil
}

// Suppress implements coordinator.Graphs.
func (e *eraser) Suppress(targets []lethe.Target) error { return e.store.Suppress(targets) }

// Rewrite implements coordinator.Graphs.
func (e *eraser) Rewrite(ctx context.Context, targets []lethe.Target, replaced []coordinator.Replaced) error {
	if err := e.store.Erase(ctx, targets); err != nil {
		return err
	}
	infos := e.infos()
	for _, r := range replaced {
		info, known := infos[r.Timestep]
		if !known || info.State == lethe.Open {
			continue
		}
		if err := e.publisher.graph(r.Timestep); err != nil {
			return err
		}
		if info.State != lethe.Settled {
			continue
		}
		if err := e.publisher.slices(r.Timestep, r.Shards); err != nil {
			return err
		}
	}
	return nil
}

// Steps implements coordinator.Graphs.
func (e *eraser) Steps(replaced []coordinator.Replaced) []wire.CommandStep {
	infos := e.infos()
	var steps []wire.CommandStep
	for _, r := range replaced {
		info := infos[r.Timestep]
		if info.State == lethe.Open || info.Revision == 0 {
			continue
		}
		steps = append(steps, wire.CommandStep{
			Timestep: r.Timestep, Revision: info.Revision, Settled: info.State == lethe.Settled,
			Shards: append([]lethe.ShardID{}, r.Shards...),
		})
	}
	return steps
}

// infos are the timesteps as they are now.
func (e *eraser) infos() map[lethe.Timestep]snapshot.Info {
	out := make(map[lethe.Timestep]snapshot.Info)
	for _, info := range e.store.Timesteps() {
		out[info.Timestep] = info
	}
	return out
}

// positionsOf returns where the snapshot holds the pseudonyms, ascending.
func positionsOf(s *lethe.Snapshot, pseudonyms []lethe.Pseudonym) []int {
	var out []int
	for _, p := range pseudonyms {
		if node, found := s.Find(p); found {
			out = append(out, node)
		}
	}
	slices.Sort(out)
	return out
}
