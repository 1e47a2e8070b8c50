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
	"lethe/internal/mixedstore"
	"lethe/internal/timestepkey"
	"lethe/pipeline/journal"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
	"lethe/scoring/ensemble"
)

// erasure is a request under way, as far as this role is concerned.
type erasure struct {
	command *wire.Command
	// purged, erased and scanned are the newest attempts of which that step was
	// acknowledged, or -1.
	purged, erased, scanned int
}

// roleName is what acknowledgements call the role.
const roleName = "train"

// takeNotices follows the commands of erasures, and what score serves.
func (l *logic) takeNotices(in role.Input) error {
	for _, e := range in.Entries {
		if served, is := e.Decision.(journal.Served); is {
			if err := l.serve(served.Through); err != nil {
				return err
			}
		}
	}
	for _, n := range in.Notices {
		if n.Command != nil {
			if err := n.Command.Shares(l.o.Secret); err != nil {
				return err
			}
		}
		switch {
		case n.Command != nil && n.Command.Phase.Rewrites():
			known := l.erasures[n.Command.RequestID]
			if known == nil {
				known = &erasure{purged: -1, erased: -1, scanned: -1}
				l.erasures[n.Command.RequestID] = known
			}
			known.command = n.Command
			if err := l.removeGone(n.Command); err != nil {
				return fmt.Errorf("request %s: %w", n.Command.RequestID, err)
			}
		case n.Deleted != "":
			delete(l.erasures, n.Deleted)
		}
	}
	return nil
}

// removeGone removes the slices of timesteps that are gone. They were deleted from
// their topic as well, but of that nothing may be left when the role comes to it.
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

// isGone reports whether a slice is of a timestep that some command says is gone: its deletion may be gone from the
// topic, with the slice, before the role comes to it.
func isGone(commands []*wire.Command, m wire.Received) bool {
	return !m.Deleted && slices.ContainsFunc(commands, func(c *wire.Command) bool { return c.Removes(m) })
}

// acknowledge does the next thing that a command asks for and says so, or is idle.
func (l *logic) acknowledge(ctx context.Context) (role.Output, error) {
	for _, id := range slices.Sorted(maps.Keys(l.erasures)) {
		out, due, err := l.acknowledgeOne(ctx, l.erasures[id])
		if err != nil {
			return role.Output{}, fmt.Errorf("request %s: %w", id, err)
		}
		if due {
			return out, nil
		}
	}
	return role.Output{Idle: true}, nil
}

// acknowledgeOne says that all slices have been replaced and trained through, for
// score waits for no more than that; then it searches the places that held the
// records, and everything once that is asked for.
func (l *logic) acknowledgeOne(ctx context.Context, e *erasure) (out role.Output, due bool, err error) {
	c := e.command
	switch {
	case !l.replaced(c):
		return role.Output{}, false, nil
	case e.purged < c.Attempt:
		a := l.newAck(c, deletions.StepPurged)
		a.Shards = slices.Sorted(maps.Keys(c.Shards()))
		a.Components = groupsOf(l.o.Layout, a.Shards)
		out, err = role.Acknowledge(a, &e.purged)
	case e.erased < c.Attempt:
		out, err = l.searched(ctx, c, deletions.StepErased, concerned(c), &e.erased)
	case c.Phase == wire.PhaseSearch && e.scanned < c.Attempt:
		out, err = l.searched(ctx, c, deletions.StepScanned, everything, &e.scanned)
	default:
		return role.Output{}, false, nil
	}
	return out, true, err
}

// groupsOf says which groups of every component learn from some shards.
func groupsOf(l ensemble.Layout, shards []lethe.ShardID) []deletions.ComponentGroups {
	out := make([]deletions.ComponentGroups, len(l.Components))
	for k, c := range l.Components {
		out[k] = deletions.ComponentGroups{Model: c.Config.Model, Groups: c.Groups, Of: make([]int, len(shards))}
		for i, shard := range shards {
			_, out[k].Of[i] = l.Place(l.ModelsOf(shard)[k])
		}
	}
	return out
}

// commands are those under way.
func (l *logic) commands() []*wire.Command {
	out := make([]*wire.Command, 0, len(l.erasures))
	for _, e := range l.erasures {
		out = append(out, e.command)
	}
	return out
}

// inPlace reports whether every slice that the command replaces is in place.
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

// replaced reports whether every slice that the command replaces is in place and
// its column trained as far as it goes.
func (l *logic) replaced(command *wire.Command) bool {
	return l.inPlace(command) && !slices.ContainsFunc(command.Steps, func(step wire.CommandStep) bool {
		return slices.ContainsFunc(step.Shards, func(shard lethe.ShardID) bool { return !l.learntAnew(shard, step) })
	})
}

// learntAnew reports whether all that learns from a shard has gone through a step's
// timestep and as far as it goes.
func (l *logic) learntAnew(shard lethe.ShardID, step wire.CommandStep) bool {
	for _, n := range l.o.Layout.ModelsOf(shard) {
		m := l.models[n]
		if m.next(m.newest()) != lethe.NoTimestep || !step.Gone && m.newest() < step.Timestep {
			return false
		}
	}
	return l.over == nil || l.over.next() == lethe.NoTimestep
}

// concerned chooses the files that held what a command erases: the stores of the
// shards, and of their slices those of the timesteps.
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

// everything chooses every file.
func everything(string) bool { return true }

// searched searches some of the role's files and acknowledges that.
func (l *logic) searched(
	ctx context.Context, c *wire.Command, step deletions.Step, which func(path string) bool, note *int,
) (role.Output, error) {
	summary, err := l.search(ctx, c, which)
	if err != nil {
		return role.Output{}, err
	}
	a := l.newAck(c, step)
	a.Scan = &summary
	return role.Acknowledge(a, note)
}

// newAck acknowledges a step of a command.
func (l *logic) newAck(c *wire.Command, step deletions.Step) deletions.Ack {
	a := deletions.NewAck(c.RequestID, roleName, l.o.Instance, step)
	a.Attempt, a.Run = c.Attempt, l.o.Run
	return a
}
