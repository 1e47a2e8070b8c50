package score

import (
	"context"
	"path"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/ledgercopy"
	"lethe/deletions/scan"
	"lethe/ingest/bus"
	"lethe/internal/mixedstore"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
)

type erasure = role.Erasure[struct{}]

// erasing carries out commands of erasures and acknowledges their steps.
type erasing struct {
	o          Options
	state      *state
	explaining *explaining
	arrivals   *arrivals
	// requests are the open ones.
	requests role.Erasures[struct{}]
}

func newErasing(o Options, s *state, e *explaining, a *arrivals) *erasing {
	open := role.Erasures[struct{}]{Role: roleName, Instance: o.Instance, Run: o.Run, Secret: o.Secret}
	return &erasing{o: o, state: s, explaining: e, arrivals: a, requests: open}
}

// take processes commands. Suppression comes before any scoring.
func (l *erasing) take(notices []wire.Notice) error {
	return l.requests.Take(notices, func(e *erasure) error {
		l.explaining.overtake(lethe.NoTimestep)
		c := e.Command
		if c.Phase == wire.PhaseLift {
			err := l.state.hidden.lift(c.Suppressed, c.Subjects)
			if err == nil {
				l.arrivals.lift(c.Suppressed, c.Subjects...)
			}
			return err
		}
		if err := l.suppress(c.Suppressed, c.Redacted, c.Subjects); err != nil {
			return err
		}
		return l.state.removeGone(c)
	})
}

// suppress publishes nothing more of some targets.
func (l *erasing) suppress(hashes []lethe.Digest, redacted []lethe.Redaction, subjects []lethe.SubjectUntil) error {
	err := l.state.hidden.suppress(hashes, redacted, subjects)
	if err == nil {
		l.arrivals.suppress(hashes, redacted, subjects...)
	}
	return err
}

// suppressErased suppresses erased targets in an unused store. Commands of completed requests are deleted, and
// producers may send records of the targets again: graphs ignores them, but a provisional score would be published.
func (l *erasing) suppressErased(ctx context.Context) error {
	offsets := make(map[bus.TopicPartition]int64)
	if err := readOffsets(l.state.store, offsets); err != nil || len(offsets) > 0 {
		return err
	}
	kept, err := ledgercopy.Read(ctx, l.o.Bus)
	for _, e := range kept.Erased() {
		if err == nil {
			err = l.suppress(e.Suppressed(), e.Redactions(), e.Subjects)
		}
	}
	return err
}

// isCommand reports whether a notice is a command or its end.
func isCommand(n wire.Notice) bool { return n.Command != nil || n.Deleted != "" }

// acknowledged acknowledges the first step that was carried out, of the open requests.
func (l *erasing) acknowledged(ctx context.Context) (role.Output, error) {
	return l.requests.Acknowledge(ctx, l.acknowledge)
}

// acknowledge executes the next step of a command, if its input has arrived, and acknowledges it: suppressed, swapped,
// changed files searched, all files searched.
func (l *erasing) acknowledge(ctx context.Context, e *erasure) (a deletions.Ack, err error) {
	c := e.Command
	switch {
	case c.Phase == wire.PhaseLift:
		if e.Owes(deletions.StepLifted) {
			a = l.ack(e, deletions.StepLifted)
		}
	case e.Owes(deletions.StepSuppressed):
		a = l.ack(e, deletions.StepSuppressed)
	case c.Phase == wire.PhaseSuppress || !l.state.replaced(c):
	case e.Owes(deletions.StepSwapped):
		a = l.ack(e, deletions.StepSwapped)
	case !l.o.Standing.StandsBy() && l.state.links.owesAgain():
		// The leader replaces reasons that depend on erased data first. A standby publishes none, and its alerts may be
		// others than the leader's, so it waits for none.
	case e.Owes(deletions.StepErased):
		if err := l.state.models.unlinkStale(); err != nil {
			return a, err
		}
		return l.searched(ctx, e, deletions.StepErased, concerned(c))
	case c.Phase == wire.PhaseSearch && e.Owes(deletions.StepScanned):
		return l.searched(ctx, e, deletions.StepScanned, everything)
	}
	return a, nil
}

// concerned selects the files that may have held the targets of a command: those of its timesteps, and the store of
// small values.
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

// everything selects every file.
func everything(string) bool { return true }

// searched searches some of the role's files and acknowledges that.
func (l *erasing) searched(
	ctx context.Context, e *erasure, step deletions.Step, which func(path string) bool,
) (deletions.Ack, error) {
	summary, err := e.Command.Search(ctx, l.o.Secret, scan.Some(swapstore.Files(l.o.FS, l.o.Dir), which), l.o.Pacer)
	a := l.ack(e, step)
	a.Scan = &summary
	return a, err
}

// roleName is the role's name in acknowledgements.
const roleName = "score"

// ack acknowledges a step with the served ensemble.
func (l *erasing) ack(e *erasure, step deletions.Step) deletions.Ack {
	a := l.requests.Ack(e, step)
	if l.state.models.served != nil {
		a.Ensemble, a.Models = l.state.models.served.Version, l.state.models.served.Digests
	}
	return a
}
