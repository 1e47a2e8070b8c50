package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"lethe/ingest"
	"lethe/ingest/authority"
)

const (
	memberFormat = "lethe-member/1"
	memberPrefix = "!member/"
	strikeFormat = "lethe-strike/1"
	strikePrefix = "!struck/"
)

// Member says that a data directory is one of those that share the work of a role. It
// travels on control.v1 as a control record before the directory holds anything, so
// that whoever carries out an erasure knows of every copy. There is a record for each role
// and directory, and it stays: a process that was stopped still has its copies.
type Member struct {
	Format string `json:"format"`
	Role   string `json:"role"`
	// Identity is that of the data directory, Run that of the process.
	Identity string `json:"identity"`
	Run      string `json:"run"`
	// Since tells it from what the directory's process before said, see Since.
	Since time.Time `json:"since,omitzero"`
}

// Since is when something is said that replaces what was said at another time: now, or later than that. So of all
// that is said under one key the last has the latest time, and what is written again as it was has not. Earlier
// versions tell no time.
func Since(now, before time.Time) time.Time {
	now = now.UTC().Truncate(time.Millisecond)
	if next := before.Add(time.Millisecond); now.Before(next) {
		return next
	}
	return now
}

// Strike says that an operator declared the data directory of a member gone for good:
// nobody waits for its acknowledgements any more, and receipts name it as not searched. It
// is never taken back, so that the directory cannot return with what was erased since.
type Strike struct {
	Format   string    `json:"format"`
	Role     string    `json:"role"`
	Identity string    `json:"identity"`
	At       time.Time `json:"at"`

	// said is the record that it was read from.
	said ingest.Record
}

// Refusal says why a strike does not count where what is said of processes must be signed: it
// is nil if it does. A signature counts for ever, since strikes are read again at every start.
func (s Strike) Refusal(policy authority.Policy) *ingest.Refusal {
	if !policy.Operators {
		return nil
	}
	_, refusal := policy.Check(s.said, authority.Admin)
	return refusal
}

// Record returns the member as a record of control.v1.
func (m Member) Record() (ingest.Outgoing, error) {
	m.Format = memberFormat
	return controlRecord(memberPrefix, m.Role, m.Identity, m)
}

// Record returns the strike as a record of control.v1.
func (s Strike) Record() (ingest.Outgoing, error) {
	s.Format, s.At = strikeFormat, s.At.UTC().Truncate(time.Millisecond)
	return controlRecord(strikePrefix, s.Role, s.Identity, s)
}

func controlRecord(prefix, role, identity string, what any) (ingest.Outgoing, error) {
	value, err := json.Marshal(what)
	if err != nil {
		return ingest.Outgoing{}, fmt.Errorf("member %s of role %s: %w", identity, role, err)
	}
	return ingest.Outgoing{Key: []byte(prefix + role + "/" + identity), Value: value}, nil
}

// ParseMember reads a record of control.v1; it says whether there is a member in it.
func ParseMember(rec ingest.Record) (m Member, found bool, err error) {
	found, err = parseControl(rec, memberPrefix, &m, func() (format, key string) {
		return m.Format, m.Role + "/" + m.Identity
	}, memberFormat)
	return m, found, err
}

// ParseStrike reads a record of control.v1; it says whether there is a strike in it.
func ParseStrike(rec ingest.Record) (s Strike, found bool, err error) {
	found, err = parseControl(rec, strikePrefix, &s, func() (format, key string) {
		return s.Format, s.Role + "/" + s.Identity
	}, strikeFormat)
	if found && !isMoment(s.At) {
		return s, false, fmt.Errorf("%s/%d@%d: strike: at is %s, want a time of the years 1970 to 9999",
			rec.Topic, rec.Partition, rec.Offset, s.At.Format(time.RFC3339))
	}
	s.At, s.said = s.At.UTC().Truncate(time.Millisecond), rec
	return s, found, err
}

// isMoment reports whether a time is one that the transparency log and receipts can repeat: neither could be written
// with another.
func isMoment(at time.Time) bool {
	const first, last = 1970, 9999
	year := at.UTC().Year()
	return year >= first && year <= last
}

// parseControl reads a control record of a role's member into a value, which said then tells of.
func parseControl(
	rec ingest.Record, prefix string, into any, said func() (format, key string), want string,
) (found bool, err error) {
	name, is := strings.CutPrefix(string(rec.Key), prefix)
	if !is || rec.Tombstone() {
		return false, nil
	}
	if err = proven(rec); err == nil {
		err = json.Unmarshal(rec.Value, into)
	}
	if err == nil {
		switch format, key := said(); {
		case format != want:
			err = fmt.Errorf("format %q, want %q", format, want)
		case key != name || strings.HasPrefix(key, "/") || strings.HasSuffix(key, "/"):
			err = errors.New("no role or identity, or others than the key")
		}
	}
	if err != nil {
		return false, fmt.Errorf("%s/%d@%d: member: %w", rec.Topic, rec.Partition, rec.Offset, err)
	}
	return true, nil
}

// Members are the data directories that share the work of roles, as control.v1 has
// said so far, and those that were struck off. The zero value knows of none.
type Members struct {
	members map[string]map[string]Member
	struck  map[string]map[string]Strike
	// alone are the directories that said that they play a role alone.
	alone map[string]Instance
}

// Take notes what a notice says of members.
func (m *Members) Take(n Notice) {
	switch {
	case n.Member != nil && n.Member.Since.Before(m.members[n.Member.Role][n.Member.Identity].Since):
		// What the directory said before is written again.
	case n.Member != nil:
		put(&m.members, n.Member.Role, n.Member.Identity, *n.Member)
	case n.Strike != nil:
		if _, before := m.struck[n.Strike.Role][n.Strike.Identity]; !before {
			put(&m.struck, n.Strike.Role, n.Strike.Identity, *n.Strike)
		}
	case n.Instance != nil && n.Instance.Since.Before(m.alone[n.Instance.Role].Since):
		// What was said of the role before is written again, as by the directory that was replaced.
	case n.Instance != nil:
		if m.alone == nil {
			m.alone = make(map[string]Instance)
		}
		m.alone[n.Instance.Role] = *n.Instance
	}
}

func put[T any](all *map[string]map[string]T, role, identity string, what T) {
	if *all == nil {
		*all = make(map[string]map[string]T)
	}
	if (*all)[role] == nil {
		(*all)[role] = make(map[string]T)
	}
	(*all)[role][identity] = what
}

// Of returns the data directories that hold copies of what a role keeps, ascending: those
// that share its work and were not struck off, whether or not their processes run, and the
// one that said it plays the role alone.
func (m *Members) Of(role string) []string {
	all := make(map[string]bool)
	for identity := range m.members[role] {
		all[identity] = true
	}
	if alone, said := m.alone[role]; said {
		all[alone.Identity] = true
	}
	for identity := range m.struck[role] {
		delete(all, identity)
	}
	return slices.Sorted(maps.Keys(all))
}

// Known reports whether anybody said that it plays the role, gone or not.
func (m *Members) Known(role string) bool {
	_, alone := m.alone[role]
	return alone || len(m.members[role]) > 0
}

// Member returns what a directory said that shares the role's work.
func (m *Members) Member(role, identity string) (Member, bool) {
	said, shares := m.members[role][identity]
	return said, shares
}

// RunOf is the process of a data directory that said last that it plays a role, or empty.
func (m *Members) RunOf(role, identity string) string {
	said, shares := m.members[role][identity]
	if alone, plays := m.alone[role]; plays && alone.Identity == identity && (!shares || alone.Since.After(said.Since)) {
		return alone.Run
	}
	return said.Run
}

// Shared reports whether a directory is one that shares the role's work.
func (m *Members) Shared(role, identity string) bool {
	_, shares := m.members[role][identity]
	return shares
}

// Alone returns the newest directory that said it plays a role by itself.
func (m *Members) Alone(role string) (Instance, bool) {
	i, said := m.alone[role]
	return i, said
}

// Struck returns the members of a role that were struck off, ascending by identity.
func (m *Members) Struck(role string) []Strike {
	var out []Strike
	for _, identity := range slices.Sorted(maps.Keys(m.struck[role])) {
		out = append(out, m.struck[role][identity])
	}
	return out
}

// IsStruck reports whether a directory was struck off a role.
func (m *Members) IsStruck(role, identity string) bool {
	_, struck := m.struck[role][identity]
	return struck
}
