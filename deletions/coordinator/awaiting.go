package coordinator

import (
	"fmt"
	"slices"
	"time"

	"lethe/deletions"
	"lethe/deletions/acks"
	"lethe/deletions/batch"
)

// awaitedQuietly is how long an acknowledgement may be missing before that is logged.
const awaitedQuietly = 30 * time.Second

// awaiting finds the data directories and people that requests wait for.
type awaiting struct {
	*core
	// logged are the waits already logged.
	logged map[string]bool
	// unread is since when requests wait for their records in erasures.v1, by request id.
	unread map[string]time.Time
	// waits are the waits at the last look.
	waits deletions.Waits
}

// look counts the causes that open requests wait for, and logs once each data directory that delays one for too long:
// only an operator knows whether it is lost.
func (a *awaiting) look() error {
	open, err := a.o.Ledger.Open()
	if err != nil {
		return err
	}
	a.waits = deletions.Waits{}
	logged, looked, unread := make(map[string]bool), make(map[string]bool), make(map[string]time.Time)
	for _, e := range open {
		a.count(e)
		a.lookForTargets(e, unread, logged)
		b := batch.Of(e)
		if batch.Begun(e) {
			b.Leader = e.Leader()
		}
		answers := a.answers(e.State)
		if looked[b.Leader] || len(answers) == 0 {
			continue
		}
		looked[b.Leader] = true
		if batch.Begun(e) {
			if b, err = a.out.whole(b.Leader); err != nil {
				return err
			}
		}
		a.lookAt(e, b, answers, logged)
	}
	a.logged, a.unread = logged, unread
	return nil
}

// lookForTargets logs once that a request has no record in erasures.v1: another one has taken its place while no
// process ran, and only its sender knows the targets.
func (a *awaiting) lookForTargets(e deletions.Entry, unread map[string]time.Time, logged map[string]bool) {
	if batch.IsPurged(e) || a.jobs.of(e.RequestID) != nil {
		return
	}
	since, known := a.unread[e.RequestID]
	if !known {
		since = a.now()
	}
	unread[e.RequestID] = since
	this := e.RequestID + " targets"
	if logged[this] = a.now().Sub(since) >= awaitedQuietly; logged[this] && !a.logged[this] {
		a.o.Logger.Warn("an erasure waits for its targets, and its record was not read from erasures.v1: if brokers answer, "+
			"another record has taken its place, or it is older than seven days; submit the same request again",
			"request_id", e.RequestID, "state", e.State)
	}
}

func (a *awaiting) count(e deletions.Entry) {
	status := e.Status()
	switch {
	case status.AwaitsSignature():
		a.waits.Unsigned++
	case e.State == deletions.Held:
		a.waits.Held++
	case e.State == deletions.Failed || e.Attempts > 0:
		a.waits.Failed++
	}
}

// lookAt finds the data directories that a request or its batch waits for.
func (a *awaiting) lookAt(e deletions.Entry, b batch.Batch, answers []answer, logged map[string]bool) {
	long := a.now().Sub(e.Updated()) >= awaitedQuietly
	for _, of := range answers {
		missing := a.acks.Missing(b.Leader, b.Attempts(), of.role, of.step)
		for _, instance := range missing {
			a.absent(deletions.AbsentDirectory{Role: of.role, Instance: instance, Since: e.Updated()})
			this := fmt.Sprint(e.RequestID, e.Attempts, e.State, of.role, instance)
			if logged[this] = long; long && !a.logged[this] {
				a.o.Logger.Warn("an erasure waits for a data directory: start its process, or strike it off if it is gone for "+
					"good (lethe members strike)", "request_id", e.RequestID, "state", e.State, "role", of.role, "instance", instance)
			}
		}
		if len(missing) > 0 && of.step == deletions.StepPurged {
			break // score waits for them, too
		}
	}
}

func (a *awaiting) absent(d deletions.AbsentDirectory) {
	same := func(o deletions.AbsentDirectory) bool { return o.Role == d.Role && o.Instance == d.Instance }
	if at := slices.IndexFunc(a.waits.Absent, same); at >= 0 {
		if known := &a.waits.Absent[at]; d.Since.Before(known.Since) {
			known.Since = d.Since
		}
		return
	}
	a.waits.Absent = append(a.waits.Absent, d)
}

// answer is an acknowledgement that is waited for.
type answer struct {
	role string
	step deletions.Step
}

// answers are the acknowledgements that a state waits for.
func (a *awaiting) answers(state deletions.State) (out []answer) {
	step := deletions.StepScanned
	switch state {
	case deletions.Accepted:
		return []answer{{acks.Score, deletions.StepSuppressed}, {acks.View, deletions.StepSuppressed}}
	case deletions.Retraining:
		return []answer{{acks.Train, deletions.StepPurged}, {acks.Score, deletions.StepSwapped}}
	case deletions.Swapped:
		step = deletions.StepErased
	case deletions.Erased:
	default:
		return nil
	}
	for _, role := range a.acks.Holders() {
		out = append(out, answer{role, step})
	}
	return out
}
