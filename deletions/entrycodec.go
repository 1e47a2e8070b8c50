package deletions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"lethe"
)

// ErrFormat marks bytes that this program did not write or does not know the
// version of. The caller should not guess: it stops and says so.
var ErrFormat = errors.New("not a known format")

// Encode returns the entry's canonical JSON: one entry, one sequence of bytes.
func (e *Entry) Encode() ([]byte, error) {
	if err := e.Validate(); err != nil {
		return nil, fmt.Errorf("ledger entry: %w", err)
	}
	return canonicalJSON(e)
}

// DecodeEntry reads what Encode wrote and validates it.
func DecodeEntry(data []byte) (Entry, error) {
	var e Entry
	if err := decodeStrict(data, entryFormat, &e); err != nil {
		return Entry{}, fmt.Errorf("ledger entry: %w", err)
	}
	if err := e.Validate(); err != nil {
		return Entry{}, fmt.Errorf("ledger entry: %w: %w", ErrFormat, err)
	}
	return e, nil
}

// Validate reports every inconsistency at once.
func (e *Entry) Validate() error {
	var problems []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	check(e.Format == entryFormat, "format is not %s", entryFormat)
	check(ValidRequestID(e.RequestID), "request id is not 1..%d of A-Z a-z 0-9 . _ -", maxRequestIDBytes)
	check(validScope(e.Scope), "scope is none of shard, stubs, partition")
	check(len(e.Nodes) > 0, "no nodes")
	check(ascending(e.Nodes, compareDigests), "nodes are not ascending")
	check(!slices.Contains(e.Nodes, lethe.Digest{}), "a node is the zero digest")
	check(e.Attempts >= 0, "attempts is %d, at least 0", e.Attempts)
	for i, f := range e.Progress.Fingerprints {
		if err := f.Validate(); err != nil {
			problems = append(problems, fmt.Errorf("fingerprint %d: %w", i, err))
		}
	}
	problems = append(problems, e.checkHistory())
	return errors.Join(problems...)
}

// checkHistory replays the history through the state machine.
func (e *Entry) checkHistory() error {
	if len(e.History) == 0 || e.History[0].State != Received {
		return fmt.Errorf("history does not begin with %s", Received)
	}
	var failedIn State
	for i, c := range e.History {
		if !c.Failure.fits(c.State) {
			return fmt.Errorf("change %d: failure code does not fit state %s", i, c.State)
		}
		if i == 0 {
			continue
		}
		before := e.History[i-1]
		if err := checkMove(before.State, failedIn, c.State); err != nil {
			return fmt.Errorf("change %d: %w", i, err)
		}
		if c.At.Before(before.At) {
			return fmt.Errorf("change %d is dated before change %d", i, i-1)
		}
		failedIn = ""
		if c.State == Failed {
			failedIn = before.State
		}
	}
	if last := e.History[len(e.History)-1].State; e.State != last || e.FailedIn != failedIn {
		return fmt.Errorf("state is not the last of the history, %s", last)
	}
	return nil
}

func ascending[T any](list []T, compare func(a, b T) int) bool {
	for i := 1; i < len(list); i++ {
		if compare(list[i-1], list[i]) >= 0 {
			return false
		}
	}
	return true
}

// canonicalJSON writes a value as JSON without white space, with the members of
// every object in order of their names and no character escaped that need not
// be. Values hold no floating-point numbers, so another program gets the same
// bytes by parsing and writing with sorted keys.
func canonicalJSON(v any) ([]byte, error) {
	first, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(first))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(tree); err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// decodeStrict reads one JSON object of a known format into v: no unknown
// member, nothing after it. Its errors do not repeat what was read.
func decodeStrict(data []byte, format string, v any) error {
	var head struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return fmt.Errorf("%w: not a JSON object of %d bytes", ErrFormat, len(data))
	}
	if head.Format != format {
		return fmt.Errorf("%w: want %s", ErrFormat, format)
	}
	return decodeMembers(data, v)
}

// decodeMembers is decodeStrict for an object that does not name its format.
func decodeMembers(data []byte, v any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(v); err != nil {
		return fmt.Errorf("%w: a member is unknown or of the wrong type", ErrFormat)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: more after the JSON object", ErrFormat)
	}
	return nil
}
