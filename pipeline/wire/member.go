package wire

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"lethe/ingest"
	"lethe/ingest/authority"
)

func members() kind { return kind{"!member/", "lethe-member/1", "member"} }
func strikes() kind { return kind{"!struck/", "lethe-strike/1", "strike"} }

// Member is a data directory that shares a role. Its process publishes it as a control record before it stores any
// data, so that an erasure knows every copy. There is one record for each role and directory, and it stays: a stopped
// process still has its copies.
type Member struct {
	Format string `json:"format"`
	Role   string `json:"role"`
	// Identity is that of the data directory, Run that of the process.
	Identity string `json:"identity"`
	Run      string `json:"run"`
	// Since orders the records of the directory, see Since.
	Since time.Time `json:"since,omitzero"`
}

// Since returns the time of a record that replaces another: now, or later than the other's. So the last record of a
// key has the latest time, and a copy of an earlier one has not.
func Since(now, before time.Time) time.Time {
	now = now.UTC().Truncate(time.Millisecond)
	if next := before.Add(time.Millisecond); now.Before(next) {
		return next
	}
	return now
}

// Strike declares the data directory of a member permanently lost: no erasure waits for it, and receipts name it as not
// searched. It cannot be revoked, so that the directory cannot return with data that was erased since.
type Strike struct {
	Format   string    `json:"format"`
	Role     string    `json:"role"`
	Identity string    `json:"identity"`
	At       time.Time `json:"at"`

	record ingest.Record
}

// Refusal returns the reason why a strike is not valid where strikes must be signed, or nil. Signatures do not expire,
// because strikes are read at every start.
func (s Strike) Refusal(policy authority.Policy) *ingest.Refusal {
	if !policy.Operators {
		return nil
	}
	_, refusal := policy.Check(s.record, authority.Admin)
	return refusal
}

// Record returns the member as a record of control.v1.
func (m Member) Record() (ingest.Outgoing, error) {
	m.Format = members().format
	return members().record(m.Role+"/"+m.Identity, m)
}

// Record returns the strike as a record of control.v1.
func (s Strike) Record() (ingest.Outgoing, error) {
	s.Format, s.At = strikes().format, s.At.UTC().Truncate(time.Millisecond)
	return strikes().record(s.Role+"/"+s.Identity, s)
}

// ParseMember decodes a record of control.v1, if it is a member.
func ParseMember(rec ingest.Record) (m Member, found bool, err error) {
	return parse(members(), rec, func(m *Member, name string) error { return named(m.Role, m.Identity, name) })
}

// ParseStrike decodes a record of control.v1, if it is a strike.
func ParseStrike(rec ingest.Record) (s Strike, found bool, err error) {
	return parse(strikes(), rec, func(s *Strike, name string) error {
		if err := named(s.Role, s.Identity, name); err != nil {
			return err
		}
		if !isMoment(s.At) {
			return fmt.Errorf("at is %s, want a time of the years 1970 to 9999", s.At.Format(time.RFC3339))
		}
		s.At, s.record = s.At.UTC().Truncate(time.Millisecond), rec
		return nil
	})
}

// named checks role and identity against the key.
func named(role, identity, name string) error {
	if role == "" || identity == "" || role+"/"+identity != name {
		return errors.New("no role or identity, or others than the key")
	}
	return nil
}

// isMoment reports whether the transparency log and receipts can contain a time.
func isMoment(at time.Time) bool {
	const first, last = 1970, 9999
	year := at.UTC().Year()
	return year >= first && year <= last
}

// Members are the data directories of all roles, and those that were struck off, from the records of control.v1. The
// zero value has none.
type Members struct {
	members map[string]map[string]Member
	struck  map[string]map[string]Strike
	// alone are the directories that have a role alone.
	alone map[string]Instance
}

// Take adds a notice.
func (m *Members) Take(n Notice) {
	switch {
	case n.Member != nil && n.Member.Since.Before(m.members[n.Member.Role][n.Member.Identity].Since):
		// A copy of an earlier record.
	case n.Member != nil:
		put(&m.members, n.Member.Role, n.Member.Identity, *n.Member)
	case n.Strike != nil:
		if _, before := m.struck[n.Strike.Role][n.Strike.Identity]; !before {
			put(&m.struck, n.Strike.Role, n.Strike.Identity, *n.Strike)
		}
	case n.Instance != nil && n.Instance.Since.Before(m.alone[n.Instance.Role].Since):
		// A copy of an earlier record, or of the directory that was replaced.
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

// Of returns the data directories with copies of a role's state, ascending: members that were not struck off, running
// or not, and the directory that has the role alone.
func (m *Members) Of(role string) []string {
	all := make(map[string]bool)
	for identity := range m.members[role] {
		all[identity] = true
	}
	if alone, found := m.alone[role]; found {
		all[alone.Identity] = true
	}
	for identity := range m.struck[role] {
		delete(all, identity)
	}
	return slices.Sorted(maps.Keys(all))
}

// Known reports whether any directory ever had the role.
func (m *Members) Known(role string) bool {
	_, alone := m.alone[role]
	return alone || len(m.members[role]) > 0
}

// Member returns the record of a directory that shares the role.
func (m *Members) Member(role, identity string) (Member, bool) {
	member, shares := m.members[role][identity]
	return member, shares
}

// RunOf returns the latest process of a data directory with a role, or "".
func (m *Members) RunOf(role, identity string) string {
	member, shares := m.members[role][identity]
	if alone, plays := m.alone[role]; plays && alone.Identity == identity && (!shares || alone.Since.After(member.Since)) {
		return alone.Run
	}
	return member.Run
}

// Shared reports whether a directory shares the role.
func (m *Members) Shared(role, identity string) bool {
	_, shares := m.members[role][identity]
	return shares
}

// Alone returns the newest directory that has a role alone.
func (m *Members) Alone(role string) (Instance, bool) {
	i, found := m.alone[role]
	return i, found
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
