package worlds

import (
	"errors"

	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
)

// search runs beside the roles, for some turns more.
type search struct {
	run   func()
	turns int
	// of is the process that it is of, nil where there is one.
	of *host
}

type running struct {
	follower *role.Follower
	session  *roletest.Session
	thread
}

// give has a role do something in its turn, at a write of which it may stop for some turns.
func (r *running) give(what func() (bool, error)) (busy bool, err error) {
	switch {
	case r.waits():
		return true, nil
	case r.hung:
		busy, err = true, r.resume()
	case r.fault == nil:
		return what()
	default:
		err = r.run(func() error {
			var err error
			busy, err = what()
			return err
		})
	}
	if errors.Is(err, errHangs) {
		return true, nil
	}
	return busy, err
}
