package wire

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// Home returns the topic that a record belongs on which lethe's processes write of erasures, of
// themselves or of each other. erasure-status.v1 has what whoever asks for erasures is told: where
// requests and holds stand, why a signed record was not taken, and how many must sign. All else is
// on control.v1, which users neither read nor need.
func Home(key, value []byte) bus.Topic {
	switch k := string(key); {
	case deletions.IsHoldKey(k), k == refusedKey, k == settingsPrefix+Requests:
		return bus.ErasureStatus
	case strings.HasPrefix(k, "!"):
		return bus.Control
	case strings.HasPrefix(k, ackPrefix), strings.HasPrefix(k, commandPrefix):
		if !isStatus(value) { // a request may be called as what begins the other keys
			return bus.Control
		}
	}
	return bus.ErasureStatus
}

// Say writes records each to its Home: those of control.v1 first, for they are what a process goes
// on from, so that nobody is told what would be forgotten.
func Say(ctx context.Context, p Publisher, records []ingest.Outgoing) error {
	for _, topic := range []bus.Topic{bus.Control, bus.ErasureStatus} {
		var own []ingest.Outgoing
		for _, rec := range records {
			if Home(rec.Key, rec.Value) == topic {
				own = append(own, rec)
			}
		}
		if len(own) == 0 {
			continue
		}
		if err := p.Write(ctx, topic, own); err != nil {
			return err
		}
	}
	return nil
}

// WholeTopics are topics that can be read from their start to where they end now.
type WholeTopics interface {
	ReadAll(ctx context.Context, t bus.Topic, fn func(ingest.Record) error) error
}

// ReadControl reads control records, for whoever may look before the deployment's processes have
// moved those that an earlier version wrote: first what is left of them on erasure-status.v1, then
// control.v1, which may not be there yet.
func ReadControl(ctx context.Context, topics WholeTopics, fn func(ingest.Record) error) error {
	err := topics.ReadAll(ctx, bus.ErasureStatus, func(rec ingest.Record) error {
		if !IsLeft(rec) {
			return nil
		}
		return fn(rec)
	})
	if err != nil {
		return err
	}
	if err = topics.ReadAll(ctx, bus.Control, fn); errors.Is(err, bus.ErrUnknownTopic) {
		return nil
	}
	return err
}

// IsLeft reports whether a record of erasure-status.v1 is one of control.v1, or deletes one: an
// earlier version wrote both to the same topic.
func IsLeft(rec ingest.Record) bool {
	return Home(rec.Key, rec.Value) == bus.Control && !ingest.IsMarker(rec.Key) && !IsGuard(rec)
}

const (
	movedKey    = "!moved"
	movedFormat = `{"format":"lethe-moved/1"}`
	// guardKey is one of the settings of graphs that no two processes of any earlier version may
	// have different, guarded what they read in its place.
	guardKey = "seed"
	guarded  = "a later version of lethe, whose control records are on control.v1: " +
		"stop this process and start that version"
)

// Moved says on control.v1 that what stands there is whole: whatever an earlier version has left
// on erasure-status.v1 is there, and what such a version leaves from then on is newer.
func Moved() ingest.Outgoing {
	return ingest.Outgoing{Key: []byte(movedKey), Value: []byte(movedFormat)}
}

// IsMoved reports whether a record of control.v1 is Moved. One that is not the deployment's own is not.
func IsMoved(rec ingest.Record) bool {
	return string(rec.Key) == movedKey && !rec.Tombstone() && rec.Unproven == ""
}

// Guard takes, on erasure-status.v1, the place of the settings of graphs that an earlier version
// said there: a process of such a version that runs, or is started, reads it and ends with its text.
func Guard() (ingest.Outgoing, error) {
	return Settings{Role: guardedRole, Values: map[string]string{guardKey: guarded}}.Record()
}

// guardedRole is the role whose settings all processes compare with theirs.
const guardedRole = "graphs"

// IsGuard reports whether a record of erasure-status.v1 is Guard.
func IsGuard(rec ingest.Record) bool {
	return string(rec.Key) == settingsPrefix+guardedRole && bytes.Contains(rec.Value, []byte(guarded))
}

// IsGuarded reports whether a key is the one that Guard takes.
func IsGuarded(key string) bool { return key == settingsPrefix+guardedRole }
