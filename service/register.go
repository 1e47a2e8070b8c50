package service

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lethe/ingest"
	"lethe/pipeline/wire"
)

// ErrInstance marks a process whose role another data directory runs without sharing it: a second
// one would hold copies that erasures do not search.
var ErrInstance = errors.New("one data directory plays a role")

// ErrStruck marks a process whose data directory was struck off. The directory should be deleted.
var ErrStruck = errors.New("this data directory was struck off")

// register tracks which data directories run each role of the process, and processes the records of
// others.
type register struct {
	identity, run string
	takeOver      bool
	// own are the records that this process publishes about roles that it has alone, and members those about roles that
	// it shares.
	own     map[string]wire.Instance
	members map[string]wire.Member
	// strikes are those required for taking over shared roles.
	strikes []wire.Strike
	now     func() time.Time
	// readBack are the roles whose own record has been read back.
	readBack map[string]bool
	// before are the instances that ran shared roles alone when the process began.
	before map[string]wire.Instance
}

// newRegister registers exclusive and shared roles.
func newRegister(identity, run string, takeOver bool, alone, shared []string, now func() time.Time) *register {
	r := &register{
		identity: identity, run: run, takeOver: takeOver, own: make(map[string]wire.Instance),
		members: make(map[string]wire.Member), now: now, readBack: make(map[string]bool),
		before: make(map[string]wire.Instance),
	}
	for _, role := range alone {
		r.own[role] = wire.Instance{Role: role, Identity: identity, Run: run, TakeOver: takeOver}
	}
	for _, role := range shared {
		r.members[role] = wire.Member{Role: role, Identity: identity, Run: run}
	}
	return r
}

// begin compares with the records from before the process began.
func (r *register) begin(known *wire.Members) error {
	var refused []error
	for role := range r.members {
		if alone, found := known.Alone(role); found {
			r.before[role] = alone
		}
		refused = append(refused, r.beginShared(known, role))
	}
	for role := range r.own {
		refused = append(refused, r.beginAlone(known, role))
	}
	refused = slices.DeleteFunc(refused, func(err error) bool { return err == nil })
	slices.SortFunc(refused, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(refused...)
}

// beginShared begins sharing a role.
func (r *register) beginShared(known *wire.Members, role string) error {
	alone, found := known.Alone(role)
	switch {
	case known.IsStruck(role, r.identity):
		return r.struck(role)
	case found && alone.Identity == r.identity:
		// It ran the role alone. The record stays, because it names the replaced instances.
		i := wire.Instance{Role: role, Identity: r.identity, Run: r.run, Shares: true}
		r.own[role] = i.After(alone, r.now())
	case found && !alone.Shares && !known.IsStruck(role, alone.Identity) && !r.takeOver:
		return fmt.Errorf("%w: %s is played by instance %.8s alone, this is %.8s (stop the other and start it again with "+
			"this version and --brokers, so that it shares the work; go on with its data directory; or run this one with "+
			"--take-over, which says that the other directory is gone for good)", ErrInstance, role, alone.Identity, r.identity)
	}
	m := r.members[role]
	before, _ := known.Member(role, r.identity)
	m.Since = wire.Since(r.now(), before.Since)
	r.members[role] = m
	if r.takeOver {
		r.strikeOthers(known, role)
	}
	return nil
}

// strikeOthers strikes all others off a role: an operator has confirmed that they are gone.
func (r *register) strikeOthers(known *wire.Members, role string) {
	for _, other := range known.Of(role) {
		if other != r.identity {
			r.strikes = append(r.strikes, wire.Strike{Role: role, Identity: other, At: r.now()})
		}
	}
}

// beginAlone begins running a role alone. This process republishes the replacements known to its
// predecessor, including the predecessor itself if it is replaced.
func (r *register) beginAlone(known *wire.Members, role string) error {
	if r.own[role].Shares {
		return nil
	}
	if known.IsStruck(role, r.identity) {
		return r.struck(role)
	}
	for _, other := range known.Of(role) {
		if shares := known.Shared(role, other); !shares || other == r.identity {
			continue
		}
		if !r.takeOver {
			return fmt.Errorf("%w: the work of %s is shared by instance %.8s, and this is %.8s, which would play it alone, "+
				"for it brings its own broker (stop one of them and name brokers with --brokers; or run this one with "+
				"--take-over, which says that the others' directories are gone for good)",
				ErrInstance, role, other, r.identity)
		}
		r.strikes = append(r.strikes, wire.Strike{Role: role, Identity: other, At: r.now()})
	}
	own := r.own[role]
	own.Since = wire.Since(r.now(), time.Time{})
	if alone, found := known.Alone(role); found {
		if alone.Identity != r.identity && !r.takeOver {
			return fmt.Errorf("%w: %s is played by instance %.8s, this is %.8s (stop the other and go on with its data "+
				"directory; or run this one with --take-over, which says that the other directory is gone for good)",
				ErrInstance, role, alone.Identity, r.identity)
		}
		own = own.After(alone, r.now())
	}
	r.own[role] = own
	return nil
}

// isOld reports whether an instance published the record before the process began: such a record is a replayed
// copy. An instance that begins later has read the earlier records, and has a later time.
func (r *register) isOld(i wire.Instance) bool {
	before, known := r.before[i.Role]
	same := known && i.Identity == before.Identity && i.Run == before.Run
	return same || i.Since.Before(before.Since) || r.readBack[i.Role] && i.Since.Before(r.own[i.Role].Since)
}

// take processes records from after the process began. Of two that begin at the same time the first
// one stays.
func (r *register) take(n wire.Notice) (again bool, err error) {
	switch {
	case n.Member != nil:
		return r.takeMember(*n.Member)
	case n.Strike != nil && n.Strike.Identity == r.identity && r.plays(n.Strike.Role):
		return false, r.struck(n.Strike.Role)
	case n.Instance == nil:
		return false, nil
	}
	if _, shares := r.members[n.Instance.Role]; shares {
		return r.takeAlone(*n.Instance)
	}
	return r.takeInstance(*n.Instance)
}

func (r *register) plays(role string) bool {
	_, alone := r.own[role]
	_, shares := r.members[role]
	return alone || shares
}

// takeMember processes a member that shares a role from now on. A record of an earlier process of this directory
// that is replayed or arrives late replaces that of this process, which must then be republished: erasures would
// wait for the earlier process.
func (r *register) takeMember(m wire.Member) (again bool, err error) {
	own, shares := r.members[m.Role]
	switch {
	case !r.plays(m.Role):
		return false, nil
	case shares && m.Identity == r.identity && m.Run == r.run:
		r.readBack[m.Role] = true
		return false, nil
	case shares && m.Identity == r.identity && m.Since.Before(own.Since):
		return r.readBack[m.Role], nil
	case shares && m.Identity == r.identity && r.readBack[m.Role]:
		return false, r.copied(m.Role)
	case !shares && m.Identity != r.identity && !r.readBack[m.Role] && !r.takeOver:
		return false, fmt.Errorf("%w: the work of %s is shared by instance %.8s since a moment ago, and this is %.8s, "+
			"which would play it alone", ErrInstance, m.Role, m.Identity, r.identity)
	default:
		return false, nil
	}
}

// takeAlone processes an instance that exclusively runs a role that this process shares.
func (r *register) takeAlone(i wire.Instance) (again bool, err error) {
	own, found := r.own[i.Role]
	switch {
	case i.Identity == r.identity:
		return found && r.readBack[i.Role] && i.Since.Before(own.Since), nil
	case i.Shares:
		return false, nil
	case r.isOld(i):
		return found && r.readBack[i.Role], nil
	case i.TakeOver || !r.readBack[i.Role]:
		return false, r.takenOver(i)
	default:
		return false, nil // the other one stops when it reads this one's record
	}
}

// takeInstance processes an instance that runs a role that this process runs alone. No other process can write one: a
// process that runs roles alone has a broker of its own, and its data directory is locked. Records of earlier
// processes may be written again, and must then be replaced.
func (r *register) takeInstance(i wire.Instance) (again bool, err error) {
	own, plays := r.own[i.Role]
	if plays && i.Identity == own.Identity && i.Run == own.Run {
		r.readBack[i.Role] = true
		return false, nil
	}
	return plays && r.readBack[i.Role], nil
}

func (r *register) copied(role string) error {
	return fmt.Errorf("%w: %s is played by another process with a copy of this data directory "+
		"(instance %.8s): stop one of them and remove its data directory", ErrInstance, role, r.identity)
}

func (r *register) takenOver(i wire.Instance) error {
	return fmt.Errorf("%w: %s was taken over by instance %.8s, this is %.8s (this data directory counts as "+
		"gone for good: remove it)", ErrInstance, i.Role, i.Identity, r.identity)
}

func (r *register) struck(role string) error {
	return fmt.Errorf("%w: %s, instance %.8s (receipts name it as not searched: remove the directory, "+
		"and start with an empty one)", ErrStruck, role, r.identity)
}

// records returns the records that this process publishes about a role.
func (r *register) records(role string) ([]ingest.Outgoing, error) {
	var out []ingest.Outgoing
	add := func(record ingest.Outgoing, err error) error {
		out = append(out, record)
		return err
	}
	var errs []error
	if m, shares := r.members[role]; shares {
		errs = append(errs, add(m.Record()))
	}
	if i, found := r.own[role]; found {
		errs = append(errs, add(i.Record()))
	}
	for _, s := range r.strikes {
		if s.Role == role {
			errs = append(errs, add(s.Record()))
		}
	}
	return out, errors.Join(errs...)
}
