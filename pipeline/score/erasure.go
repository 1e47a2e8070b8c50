package score

import (
	"context"
	"fmt"
	"path"

	"lethe"
	"lethe/deletions"
	"lethe/internal/mixedstore"
	"lethe/internal/timestepkey"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
)

// erasure is a request under way, as far as this role is concerned.
type erasure struct {
	command *wire.Command
	// suppressed, swapped, erased and scanned are the newest attempts of which that
	// step was acknowledged, or -1; lifted that of a request that was cancelled.
	suppressed, swapped, erased, scanned, lifted int
}

// takeNotices follows the commands of erasures. Suppression takes effect before
// anything else is scored.
func (l *logic) takeNotices(notices []wire.Notice) error {
	for _, n := range notices {
		switch {
		case n.Command != nil:
			l.explaining.overtake(lethe.NoTimestep)
			if err := n.Command.Shares(l.o.Secret); err != nil {
				return err
			}
			known := l.erasures[n.Command.RequestID]
			if known == nil || n.Command.Restarts(known.command) {
				known = &erasure{suppressed: -1, swapped: -1, erased: -1, scanned: -1, lifted: -1}
				l.erasures[n.Command.RequestID] = known
			}
			known.command = n.Command
			if n.Command.Phase == wire.PhaseLift {
				if err := lift(l.state, n.Command.Suppressed, n.Command.Subjects); err != nil {
					return fmt.Errorf("request %s: %w", n.Command.RequestID, err)
				}
				l.arrivals.lift(n.Command.Suppressed, n.Command.Subjects...)
				continue
			}
			err := l.state.suppress(n.Command.Suppressed, n.Command.Subjects...)
			if err == nil {
				err = redact(l.state, n.Command.Redacted)
			}
			if err == nil {
				l.arrivals.suppress(n.Command.Suppressed, n.Command.Redacted, n.Command.Subjects...)
				err = l.state.removeGone(n.Command)
			}
			if err != nil {
				return fmt.Errorf("request %s: %w", n.Command.RequestID, err)
			}
		case n.Deleted != "":
			delete(l.erasures, n.Deleted)
		}
	}
	return nil
}

// isCommand reports whether a notice says what is to become of an erasure.
func isCommand(n wire.Notice) bool { return n.Command != nil || n.Deleted != "" }

// acknowledge does the next thing that a command asks for, as far as what has
// arrived allows, and says so, or is idle.
func (l *logic) acknowledge(ctx context.Context) (role.Output, error) {
	return role.AcknowledgeNext(ctx, l.erasures, l.acknowledgeOne)
}

// acknowledgeOne says what is done: suppressed, swapped, the places that held the
// records searched, and everything searched once that is asked for.
func (l *logic) acknowledgeOne(ctx context.Context, e *erasure) (out role.Output, due bool, err error) {
	c := e.command
	switch {
	case c.Phase == wire.PhaseLift:
		if e.lifted >= c.Attempt {
			return role.Output{}, false, nil
		}
		out, err = role.Acknowledge(l.newAck(c, deletions.StepLifted), &e.lifted)
	case e.suppressed < c.Attempt:
		out, err = role.Acknowledge(l.newAck(c, deletions.StepSuppressed), &e.suppressed)
	case c.Phase == wire.PhaseSuppress || !l.state.replaced(c):
		return role.Output{}, false, nil
	case e.swapped < c.Attempt:
		out, err = role.Acknowledge(l.newAck(c, deletions.StepSwapped), &e.swapped)
	case l.state.links.owesAgain():
		return role.Output{}, false, nil // what erased transactions were named in goes first
	case e.erased < c.Attempt:
		if err := l.state.unlinkStale(); err != nil {
			return role.Output{}, false, err
		}
		out, err = l.searched(ctx, c, deletions.StepErased, concerned(c), &e.erased)
	case c.Phase == wire.PhaseSearch && e.scanned < c.Attempt:
		out, err = l.searched(ctx, c, deletions.StepScanned, everything, &e.scanned)
	default:
		return role.Output{}, false, nil
	}
	return out, true, err
}

// concerned chooses the files that held what a command erases: those of its
// timesteps, and the store of small values.
func concerned(c *wire.Command) func(path string) bool {
	held := make(map[string]bool)
	for _, step := range c.Steps {
		for _, prefix := range []string{snapshotPrefix, manifestPrefix, publishedPrefix, explainedPrefix} {
			held[path.Join(stateFolder, mixedstore.PathOf(timestepkey.New(prefix, step.Timestep)))] = true
		}
	}
	return func(at string) bool {
		return held[at] || path.Base(path.Dir(at)) != mixedstore.FilesFolder
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

// roleName is what acknowledgements call the role.
const roleName = "score"

// newAck acknowledges a step of a command with the ensemble that is served.
func (l *logic) newAck(c *wire.Command, step deletions.Step) deletions.Ack {
	a := deletions.NewAck(c.RequestID, roleName, l.o.Instance, step)
	a.Attempt, a.Run = c.Attempt, l.o.Run
	if l.state.served != nil {
		a.Ensemble, a.Models = l.state.served.Version, l.state.served.Digests
	}
	return a
}
