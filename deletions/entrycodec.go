package deletions

import (
	"errors"
	"fmt"
	"slices"

	"lethe"
	"lethe/deletions/internal/record"
	"lethe/internal/jcs"
)

// ErrFormat marks bytes of an unknown format or version. Stop and report it.
var ErrFormat = record.ErrFormat

// Encode returns the entry as canonical JSON. Its 64-bit integers are beyond RFC 8785.
func (e *Entry) Encode() ([]byte, error) {
	if err := e.Validate(); err != nil {
		return nil, fmt.Errorf("ledger entry: %w", err)
	}
	out, err := jcs.EncodeExact(e)
	if err != nil {
		return nil, fmt.Errorf("ledger entry: %w", err)
	}
	return out, nil
}

// DecodeEntry decodes and validates an entry.
func DecodeEntry(data []byte) (Entry, error) {
	return record.DecodeValid("ledger entry", entryFormat, data, (*Entry).Validate)
}

// Validate reports every inconsistency at once.
func (e *Entry) Validate() error {
	var problems record.Problems
	problems.Check(e.Format == entryFormat, "format is not %s", entryFormat)
	problems.Check(ValidRequestID(e.RequestID), "request id is not 1..%d of A-Z a-z 0-9 . _ -", maxRequestIDBytes)
	problems.Check(e.Scope.Valid(), "scope is not one of shard, stubs, partition")
	problems.Check(!e.Digest.IsZero(), "request digest is absent")
	problems.Check(len(e.Targets) > 0, "no nodes")
	problems.Check(record.Ascending(e.Targets, record.CompareDigests), "nodes are not ascending")
	problems.Check(!slices.Contains(e.Targets, lethe.Digest{}), "a node is the zero digest")
	for i, o := range e.Progress.Outcomes {
		problems.Check(slices.Contains(e.Targets, o.Target), "outcome %d is of no node", i)
		problems.Check(!o.Decided() || o.Outcome.Valid(), "outcome %d is not known", i)
		problems.Check(o.ValidKind(), "outcome %d is of no known kind of target", i)
	}
	problems.Check(e.Attempts >= 0, "attempts is %d, at least 0", e.Attempts)
	problems.Check(e.Batch == (Batch{}) || ValidRequestID(e.Batch.Leader) && e.Batch.Size > 0, "batch is not valid")
	for i, f := range e.Progress.Fingerprints {
		if err := f.Validate(); err != nil {
			problems.Check(false, "fingerprint %d: %v", i, err)
		}
	}
	return errors.Join(problems.Err(), e.checkHistory())
}

func (e *Entry) checkHistory() error {
	failedIn, err := CheckHistory(e.History)
	if err != nil {
		return err
	}
	if last := e.History[len(e.History)-1].State; e.State != last || e.FailedIn != failedIn {
		return fmt.Errorf("state is not the last of the history, %s", last)
	}
	return nil
}

// CheckHistory replays a history through the state machine. failedIn is the state that failed, if the last change is
// to Failed. The error names the first illegal change.
func CheckHistory(history []Change) (failedIn State, err error) {
	if len(history) == 0 || history[0].State != Received {
		return "", fmt.Errorf("history does not begin with %s", Received)
	}
	for i, c := range history {
		if !c.Failure.Fits(c.State) {
			return "", fmt.Errorf("change %d: failure code does not fit state %s", i, c.State)
		}
		if i == 0 {
			continue
		}
		before := history[i-1]
		if err := checkMove(before.State, failedIn, c); err != nil {
			return "", fmt.Errorf("change %d: %w", i, err)
		}
		if c.At.Before(before.At) {
			return "", fmt.Errorf("change %d is dated before change %d", i, i-1)
		}
		failedIn = ""
		if c.State == Failed {
			failedIn = before.State
		}
	}
	return failedIn, nil
}
