package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lethe"
	"lethe/ingest"
)

const (
	instanceFormat = "lethe-instance/1"
	instancePrefix = "!instance/"
)

// Instance says which data directory plays a role, as its process said when it
// began. Like Settings it travels on control.v1 as a control record; the
// newest of each role counts.
type Instance struct {
	Format string `json:"format"`
	Role   string `json:"role"`
	// Identity is that of the data directory, Run that of the process.
	Identity string `json:"identity"`
	Run      string `json:"run"`
	// Since tells it from what was said of the role before, see Since.
	Since time.Time `json:"since,omitzero"`
	// TakeOver says that an operator declared the directory before it gone.
	TakeOver bool `json:"take_over,omitempty"`
	// Shares says that the role's work is shared: the directory is one of its members (Member).
	Shares bool `json:"shares,omitempty"`
	// Replaced are the directories of which that was declared, the newest of them last,
	// and Earlier counts those before them. They were not searched since, so receipts
	// name them.
	Replaced []Replaced `json:"replaced,omitempty"`
	Earlier  int        `json:"replaced_earlier,omitempty"`
}

// Replaced is a data directory that an operator declared gone.
type Replaced struct {
	Identity string    `json:"identity"`
	At       time.Time `json:"at"`
}

// maxReplaced bounds the list of a deployment whose processes keep no directory and take
// over at every start.
const maxReplaced = 32

// After returns the instance as it follows the one that played the role before: it
// remembers what that one did, and if that was of another directory, that this one is
// replaced now. A directory that plays the role again is not gone.
func (i Instance) After(before Instance, now time.Time) Instance {
	known := slices.Concat(before.Replaced, i.Replaced)
	if before.Identity != i.Identity {
		known = append(known, Replaced{before.Identity, now.UTC().Truncate(time.Millisecond)})
	}
	var list []Replaced
	for at, r := range known {
		again := func(other Replaced) bool { return other.Identity == r.Identity }
		if r.Identity != i.Identity && !slices.ContainsFunc(known[:at], again) {
			list = append(list, r)
		}
	}
	i.Earlier = max(i.Earlier, before.Earlier)
	i.Since = Since(now, before.Since)
	if more := len(list) - maxReplaced; more > 0 {
		list, i.Earlier = list[more:], i.Earlier+more
	}
	i.Replaced = list
	return i
}

// Record returns the instance as a record of control.v1.
func (i Instance) Record() (ingest.Outgoing, error) {
	i.Format = instanceFormat
	value, err := json.Marshal(i)
	if err != nil {
		return ingest.Outgoing{}, fmt.Errorf("instance of role %s: %w", i.Role, err)
	}
	return ingest.Outgoing{Key: []byte(instancePrefix + i.Role), Value: value}, nil
}

// ParseInstance reads a record of control.v1; it says whether there is an
// instance in it.
func ParseInstance(rec ingest.Record) (i Instance, found bool, err error) {
	role, is := strings.CutPrefix(string(rec.Key), instancePrefix)
	if !is || rec.Tombstone() {
		return i, false, nil
	}
	if err = proven(rec); err == nil {
		err = json.Unmarshal(rec.Value, &i)
	}
	if err == nil && i.Format != instanceFormat {
		err = fmt.Errorf("format %q, want %q", i.Format, instanceFormat)
	}
	if err == nil && (i.Role != role || i.Identity == "") {
		err = errors.New("no role or identity, or another role than the key")
	}
	if err == nil && slices.ContainsFunc(i.Replaced, func(r Replaced) bool { return !isMoment(r.At) }) {
		err = errors.New("a time of replaced is not of the years 1970 to 9999")
	}
	if err != nil {
		return i, false, fmt.Errorf("%s/%d@%d: instance: %w", rec.Topic, rec.Partition, rec.Offset, err)
	}
	return i, true, nil
}

// ErrSecret marks a command of a process that has another secret. The operator gives
// all processes the same secret file.
var ErrSecret = errors.New("the process that carries out erasures has another secret: " +
	"give all processes the same secret_file, or begin anew with empty data directories and empty topics")

// SecretCheck tells two secrets apart, and is of no use to guess one.
func SecretCheck(secret lethe.Secret) string {
	var parts [][]byte
	if begun := secret.Ledger(); begun != secret {
		d := begun.Hash("shared settings")
		parts = append(parts, d[:])
	}
	return secret.Hash("shared settings", parts...).String()[:16]
}

// Shares refuses a command that was made with another secret: a search with
// fingerprints of another key finds nothing, whatever is there.
func (c *Command) Shares(secret lethe.Secret) error {
	if c.SecretCheck != "" && c.SecretCheck != SecretCheck(secret) {
		return fmt.Errorf("request %s: %w", c.RequestID, ErrSecret)
	}
	return nil
}
