package service

import (
	"errors"
	"fmt"
	"time"

	"lethe/ingest"
	"lethe/pipeline/wire"
)

// ErrInstance is returned for a process whose role another data directory plays.
// Until work is shared, a second one would hold copies that nobody searches.
var ErrInstance = errors.New("one data directory plays a role")

// register says which data directory plays each role of the process, and listens to
// what others say of them.
type register struct {
	// own is what this process says, by role.
	own map[string]wire.Instance
	now func() time.Time
	// said are the roles of which its own record has come back.
	said map[string]bool
}

func newRegister(identity, run string, takeOver bool, roles []string, now func() time.Time) *register {
	r := &register{own: make(map[string]wire.Instance), now: now, said: make(map[string]bool)}
	for _, role := range roles {
		r.own[role] = wire.Instance{Role: role, Identity: identity, Run: run, TakeOver: takeOver}
	}
	return r
}

// before compares with the newest instance that was there when the process began. What
// that one knows to be replaced, and itself if it is, is said again by this process.
func (r *register) before(there wire.Instance) error {
	own, plays := r.own[there.Role]
	if !plays {
		return nil
	}
	if there.Identity == own.Identity || own.TakeOver {
		r.own[there.Role] = own.After(there, r.now())
		return nil
	}
	return fmt.Errorf("%w: %s is played by instance %.8s, this is %.8s (stop the other and go on with its data "+
		"directory; or run this one with --take-over, which says that the other directory is gone for good)",
		ErrInstance, there.Role, there.Identity, own.Identity)
}

// take listens to what is said after the process began. Of two that begin at the same
// time the first one stays, unless the second takes over; the second one's record has
// replaced the first one's then, which is to be written again.
func (r *register) take(i wire.Instance) (again bool, err error) {
	own, plays := r.own[i.Role]
	switch {
	case !plays:
		return false, nil
	case i.Identity == own.Identity && i.Run == own.Run:
		r.said[i.Role] = true
		return false, nil
	case !r.said[i.Role]:
		// What is taken over now is not in the record that is on its way.
		return own.TakeOver && i.Identity != own.Identity, r.before(i)
	case i.Identity == own.Identity:
		return false, fmt.Errorf("%w: %s is played by another process with a copy of this data directory "+
			"(instance %.8s): stop one of them and remove its data directory", ErrInstance, i.Role, i.Identity)
	case i.TakeOver:
		return false, fmt.Errorf("%w: %s was taken over by instance %.8s, this is %.8s (this data directory counts as "+
			"gone for good: remove it)", ErrInstance, i.Role, i.Identity, own.Identity)
	default:
		return true, nil
	}
}

// record is what this process says of a role.
func (r *register) record(role string) (ingest.Outgoing, error) { return r.own[role].Record() }
