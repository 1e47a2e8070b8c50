package train

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/internal/mixedstore"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/pipeline/journal"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
	"lethe/scoring/ensemble"
	"lethe/trainer"
)

type erasure = role.Erasure[struct{}]

const roleName = "train"

// takeNotices processes commands of erasures, and the ensemble that score serves.
func (l *logic) takeNotices(in role.Input) error {
	for _, e := range in.Entries {
		if served, is := e.Decision.(journal.Served); is {
			if err := l.serve(served.Through, e.Place()); err != nil {
				return err
			}
		}
	}
	return l.erasures.Take(in.Notices, func(e *erasure) error { return l.removeGone(e.Command) })
}

// removeGone removes slices of timesteps that are gone: their deletion may be compacted away unread.
func (l *logic) removeGone(command *wire.Command) error {
	for _, step := range command.Steps {
		for _, shard := range step.Shards {
			if !step.Gone || int(shard) >= len(l.columns) {
				continue
			}
			c := l.columns[shard]
			if link, held := c.links[step.Timestep]; held && link.revision <= step.Revision {
				if err := c.remove(step.Timestep, binary.BigEndian.AppendUint64(nil, uint64(c.offset))); err != nil {
					return fmt.Errorf("shard %d timestep %d: remove slice: %w", shard, step.Timestep, err)
				}
			}
		}
	}
	return nil
}

// isGone reports whether a command removes the slice's timestep.
func isGone(commands []*wire.Command, m wire.Received) bool {
	return !m.Deleted && slices.ContainsFunc(commands, func(c *wire.Command) bool { return c.Removes(m) })
}

// acknowledge acknowledges the retraining, which score waits for, then searches the rewritten places, and everything
// when commanded.
func (l *logic) acknowledge(ctx context.Context, e *erasure) (a deletions.Ack, err error) {
	c := e.Command
	switch {
	case !l.replaced(c):
	case e.Owes(deletions.StepPurged):
		a = l.erasures.Ack(e, deletions.StepPurged)
		a.Shards = slices.Sorted(maps.Keys(c.Shards()))
		a.Components = groupsOf(l.o.Layout, a.Shards)
	case e.Owes(deletions.StepErased):
		return l.searched(ctx, e, deletions.StepErased, concerned(c))
	case c.Phase == wire.PhaseSearch && e.Owes(deletions.StepScanned):
		return l.searched(ctx, e, deletions.StepScanned, everything)
	}
	return a, nil
}

// groupsOf are the groups of every component that learn from some shards.
func groupsOf(l ensemble.Layout, shards []lethe.ShardID) []deletions.ComponentGroups {
	out := make([]deletions.ComponentGroups, len(l.Components))
	for k, c := range l.Components {
		model := c.Config.Model
		out[k] = deletions.ComponentGroups{
			Model: model, Groups: c.Groups, Of: make([]int, len(shards)), Network: !slices.Contains(trainer.RowModels(), model),
		}
		for i, shard := range shards {
			_, out[k].Of[i] = l.Place(l.ModelsOf(shard)[k])
		}
	}
	return out
}

func (l *logic) commands() []*wire.Command {
	out := make([]*wire.Command, 0, len(l.erasures.Open))
	for _, e := range l.erasures.Open {
		out = append(out, e.Command)
	}
	return out
}

// inPlace reports whether the replaced slices have arrived.
func (l *logic) inPlace(command *wire.Command) bool {
	for _, step := range command.Steps {
		for _, shard := range step.Shards {
			if int(shard) >= len(l.columns) {
				return false
			}
			link, held := l.columns[shard].links[step.Timestep]
			if step.Gone && held && link.revision <= step.Revision || !step.Gone && link.revision < step.Revision {
				return false
			}
		}
	}
	return true
}

// replaced reports whether they have been trained on.
func (l *logic) replaced(command *wire.Command) bool {
	return l.inPlace(command) && !slices.ContainsFunc(command.Steps, func(step wire.CommandStep) bool {
		return slices.ContainsFunc(step.Shards, func(shard lethe.ShardID) bool { return !l.learntAnew(shard, step) })
	})
}

// learntAnew reports whether everything over a shard is trained through a step and to the end.
func (l *logic) learntAnew(shard lethe.ShardID, step wire.CommandStep) bool {
	for _, n := range l.o.Layout.ModelsOf(shard) {
		m := l.models[n]
		if m.next(m.newest()) != lethe.NoTimestep || !step.Gone && m.newest() < step.Timestep {
			return false
		}
	}
	return l.over == nil || l.over.next() == lethe.NoTimestep
}

// concerned selects the files that held data erased by a command: the shards' stores and the timesteps' slices.
func concerned(c *wire.Command) func(path string) bool {
	held := make(map[string]bool)
	for _, step := range c.Steps {
		for _, shard := range step.Shards {
			dir := shardFolder(shard)
			held[dir], held[path.Join(dir, mixedstore.FilesFolder)] = true, true
			held[path.Join(dir, mixedstore.PathOf(timestepkey.New(slicePrefix, step.Timestep)))] = true
		}
	}
	return func(at string) bool {
		if dir, name := path.Split(at); path.Base(dir) == mixedstore.FilesFolder || name == mixedstore.FilesFolder {
			return held[at]
		}
		top, _, _ := strings.Cut(at, "/")
		return held[top]
	}
}

func everything(string) bool { return true }

// searched searches files and acknowledges.
func (l *logic) searched(
	ctx context.Context, e *erasure, step deletions.Step, which func(path string) bool,
) (deletions.Ack, error) {
	summary, err := e.Command.Search(ctx, l.o.Secret, scan.Some(swapstore.Files(l.o.FS, l.o.Dir), which), l.o.Pacer)
	a := l.erasures.Ack(e, step)
	a.Scan = &summary
	return a, err
}
