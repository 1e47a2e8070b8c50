package graphs

import (
	"context"
	"fmt"

	"lethe/deletions/ledgercopy"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
)

// Heard is what a process knows of those that led before. Its zero value is that of one that has read nothing.
type Heard struct {
	// Leader is the data directory that began the newest epoch, or empty.
	Leader string
}

// As opens the role as a process is to play it: alone without a Standing, else as one that leads or
// stands by. What it hears while it stands by is kept in heard, which all openings of a process
// share.
func As(ctx context.Context, o Options, as *role.Standing, heard *Heard) (*role.Follower, error) {
	if as == nil {
		// Nobody else publishes, so nothing was heard that there would be to go behind.
		return New(ctx, o)
	}
	o.standing, o.heard = as, heard
	if !as.StandsBy() {
		as.Open = []bus.Topic{bus.Control}
		o, err := takeOver(ctx, o.agreed())
		if err != nil {
			return nil, fmt.Errorf("%s role: take over: %w", roleName, err)
		}
		return New(ctx, o)
	}
	as.Open = []bus.Topic{bus.Control}
	o = o.agreed()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("%s role: %w", roleName, err)
	}
	s, err := openStandby(ctx, o, heard)
	if err != nil {
		return nil, fmt.Errorf("%s role: %w", roleName, err)
	}
	around := role.Surroundings{
		Bus: o.Bus, Tick: tick, Clock: o.Clock.Now, Listener: o.Listener, Logger: o.Logger, Standing: as, Wake: s.wakes,
	}
	return role.Follow(roleName, s, around), nil
}

// takeOver prepares the folder of a process that leads from now on. Ledger and log are those of the topics, unless this
// process led last and may know more than it said: what is of before is removed before an epoch begins, or a process
// that is killed in between would take it for that. The epoch begins before anything is read, so that what another one
// may still write can be told.
func takeOver(ctx context.Context, o Options) (Options, error) {
	if led := o.heard.Leader; led != "" && led != o.Instance {
		if err := forgetLedger(o); err != nil {
			return o, fmt.Errorf("forget the ledger: %w", err)
		}
	}
	if err := o.standing.Begin(ctx, o.Bus, written()...); err != nil {
		return o, err
	}
	var err error
	if o.stale, err = o.standing.Stale(ctx, o.Bus, written()...); err != nil {
		return o, err
	}
	kept, err := ledgercopy.Read(ctx, o.Bus, o.Secret)
	if err != nil {
		return o, fmt.Errorf("the copy of the ledger: %w", err)
	}
	return o, restoreReceipts(ctx, o, kept)
}
