package requests

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// ErrHoldTaken means that a hold of that name is in force.
var ErrHoldTaken = errors.New("a hold of this name is in force")

// ErrUnknownHold means that no hold of that name is in force.
var ErrUnknownHold = errors.New("no such hold is in force")

// NewHoldName makes a random name.
func NewHoldName(random io.Reader) (string, error) { return randomHex("hold-", "hold name", 8, random) }

// Holds returns the published holds, in the order they were set.
func Holds(ctx context.Context, topics Bus) ([]deletions.Hold, error) {
	byName := make(map[string]deletions.Hold)
	err := topics.ReadAll(ctx, bus.ErasureStatus, func(rec ingest.Record) error {
		// Forged and older records do not count.
		h, err := deletions.DecodeHold(rec.Value)
		genuine := err == nil && string(rec.Key) == h.Key() && rec.Unauthenticated == ""
		if genuine && !byName[h.Name].LastChange.After(h.LastChange) {
			byName[h.Name] = h
		}
		return nil
	})
	var out []deletions.Hold
	for _, h := range byName {
		out = append(out, h)
	}
	slices.SortFunc(out, func(a, b deletions.Hold) int {
		return cmp.Or(a.SetAt.Compare(b.SetAt), cmp.Compare(a.Name, b.Name))
	})
	return out, err
}

// SetHold sets a hold and waits until it is published. Errors: deletions.ErrNamesTarget, ErrHoldTaken, of encoding,
// the brokers'.
func SetHold(ctx context.Context, topics Bus, h ingest.Hold) (deletions.Hold, error) {
	request := lethe.ErasureRequest{RequestID: h.Name, Targets: h.Targets()}
	if deletions.NamesTarget(request) {
		return deletions.Hold{}, deletions.ErrNamesTarget
	}
	key, value, err := ingest.EncodeHold(h)
	if err != nil {
		return deletions.Hold{}, err
	}
	before, found, err := holdNamed(ctx, topics, h.Name)
	if err != nil {
		return before, err
	}
	if found && before.InForce(h.RequestedAt) {
		return before, fmt.Errorf("%w: %s", ErrHoldTaken, h.Name)
	}
	return changeHold(ctx, topics, ingest.Outgoing{Key: key, Value: value}, h.Name, before)
}

// LiftHold lifts a hold and waits until that is published. Errors: ErrUnknownHold, the brokers'.
func LiftHold(ctx context.Context, topics Bus, name string, at time.Time) (deletions.Hold, error) {
	before, found, err := holdNamed(ctx, topics, name)
	if err != nil {
		return before, err
	}
	if !found || !before.InForce(at) {
		return before, fmt.Errorf("%w: %s", ErrUnknownHold, name)
	}
	key, value, err := ingest.EncodeLift(ingest.Lift{Name: name, RequestedAt: at})
	if err != nil {
		return before, err
	}
	return changeHold(ctx, topics, ingest.Outgoing{Key: key, Value: value}, name, before)
}

// changeHold publishes a change of a hold and waits until it is confirmed.
func changeHold(
	ctx context.Context, topics Bus, record ingest.Outgoing, name string, before deletions.Hold,
) (deletions.Hold, error) {
	if err := topics.Write(ctx, bus.Erasures, []ingest.Outgoing{record}); err != nil {
		return before, err
	}
	for {
		now, found, err := holdNamed(ctx, topics, name)
		if err != nil || found && now.LastChange.After(before.LastChange) {
			return now, err
		}
		if err := pause(ctx); err != nil {
			return now, fmt.Errorf("hold %s: lethe has not answered: %w", name, err)
		}
	}
}

func holdNamed(ctx context.Context, topics Bus, name string) (h deletions.Hold, found bool, err error) {
	all, err := Holds(ctx, topics)
	at := slices.IndexFunc(all, func(h deletions.Hold) bool { return h.Name == name })
	if err != nil || at < 0 {
		return h, false, err
	}
	return all[at], true, nil
}
