package wire

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"lethe"
	"lethe/ingest"
)

func instances() kind { return kind{"!instance/", "lethe-instance/1", "instance"} }

// Instance is the data directory that has a role alone. Its process publishes it at its start as a control record; the
// newest of each role is valid.
type Instance struct {
	Format string `json:"format"`
	Role   string `json:"role"`
	// Identity is that of the data directory, Run that of the process.
	Identity string `json:"identity"`
	Run      string `json:"run"`
	// Since orders the instances of a role, see Since.
	Since time.Time `json:"since,omitzero"`
	// TakeOver means that an operator has declared the previous directory lost.
	TakeOver bool `json:"take_over,omitempty"`
	// Shares means that the role is shared: the directory is also a Member.
	Shares bool `json:"shares,omitempty"`
	// Replaced are the directories that were declared lost, the newest last, and Earlier counts those before them.
	// Receipts name them, because they were not searched.
	Replaced []Replaced `json:"replaced,omitempty"`
	Earlier  int        `json:"replaced_earlier,omitempty"`
}

// Replaced is a data directory that an operator has declared lost.
type Replaced struct {
	Identity string    `json:"identity"`
	At       time.Time `json:"at"`
}

// maxReplaced bounds the list for a deployment that takes over at every start.
const maxReplaced = 32

// After returns the successor of the previous instance of the role: it inherits the list of replaced directories, and
// adds the previous directory if that is another one. A directory that has the role again is not replaced.
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
	i.Format = instances().format
	return instances().record(i.Role, i)
}

// ParseInstance decodes a record of control.v1, if it is an instance.
func ParseInstance(rec ingest.Record) (i Instance, found bool, err error) {
	return parse(instances(), rec, func(i *Instance, role string) error {
		switch {
		case i.Role != role || i.Identity == "":
			return errors.New("no role or identity, or another role than the key")
		case slices.ContainsFunc(i.Replaced, func(r Replaced) bool { return !isMoment(r.At) }):
			return errors.New("a time of replaced is not of the years 1970 to 9999")
		}
		return nil
	})
}

// ErrSecret is returned for a command of a process with another secret. The operator gives all processes the same
// secret file.
var ErrSecret = errors.New("the process that carries out erasures has another secret: " +
	"give all processes the same secret_file, or start over with empty data directories and empty topics")

// SecretCheck distinguishes secrets and does not help to guess one.
func SecretCheck(secret lethe.Secret) string {
	var parts [][]byte
	if begun := secret.Ledger(); begun != secret {
		d := begun.Hash("shared settings")
		parts = append(parts, d[:])
	}
	return secret.Hash("shared settings", parts...).String()[:16]
}

// Shares rejects a command that was made with another secret: a search with its fingerprints would find nothing.
func (c *Command) Shares(secret lethe.Secret) error {
	if c.SecretCheck != "" && c.SecretCheck != SecretCheck(secret) {
		return fmt.Errorf("request %s: %w", c.RequestID, ErrSecret)
	}
	return nil
}
