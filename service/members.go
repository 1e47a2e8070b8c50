package service

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"lethe"
	"lethe/configs"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// ErrMember is returned for an instance that is no member of a role, or not one alone.
var ErrMember = errors.New("no such member")

// Member is a data directory that plays a role, alone or with others, or was struck off it.
type Member struct {
	Role     string `json:"role"`
	Instance string `json:"instance"`
	// State is alone, member or struck off.
	State string `json:"state"`
	// StruckAt is when it was struck off.
	StruckAt time.Time `json:"struck_off_at,omitzero"`
}

// The states of members.
const (
	stateAlone  = "alone"
	stateMember = "member"
	stateStruck = "struck off"
)

// Members lists who plays the roles of a deployment, by role and instance, those that were
// struck off last. The client checks codes from then on as processes of the deployment do.
func Members(ctx context.Context, client *bus.Client, secret lethe.Secret) ([]Member, error) {
	known, err := knownMembers(ctx, client, secret)
	if err != nil {
		return nil, err
	}
	list := []Member{}
	for _, role := range []string{configs.RoleGraphs, configs.RoleErasure, configs.RoleTrain, configs.RoleScore} {
		for _, identity := range known.Of(role) {
			state := stateMember
			if !known.Shared(role, identity) {
				state = stateAlone
			}
			list = append(list, Member{Role: role, Instance: identity, State: state})
		}
		for _, s := range known.Struck(role) {
			list = append(list, Member{Role: role, Instance: s.Identity, State: stateStruck, StruckAt: s.At})
		}
	}
	return list, nil
}

// StrikeMember says that the data directory of an instance, which may be given by how it
// begins, is gone for good: no erasure waits for it any more, receipts name it, and it may
// not come back. Errors: ErrMember, those of the brokers.
func StrikeMember(
	ctx context.Context, client *bus.Client, secret lethe.Secret, role, instance string, at time.Time,
) (Member, error) {
	known, err := knownMembers(ctx, client, secret)
	if err != nil {
		return Member{}, err
	}
	var found []string
	for _, identity := range known.Of(role) {
		if strings.HasPrefix(identity, instance) {
			found = append(found, identity)
		}
	}
	if len(found) != 1 {
		return Member{}, fmt.Errorf("%w: %d instances of role %s begin with %q (lethe members list shows them)",
			ErrMember, len(found), role, instance)
	}
	strike := wire.Strike{Role: role, Identity: found[0], At: at}
	record, err := strike.Record()
	if err == nil {
		err = client.Write(ctx, bus.ErasureStatus, []ingest.Outgoing{record})
	}
	return Member{Role: role, Instance: found[0], State: stateStruck, StruckAt: at.UTC().Truncate(time.Millisecond)}, err
}

// knownMembers reads what was said of members, with the codes of records checked.
func knownMembers(ctx context.Context, client *bus.Client, secret lethe.Secret) (*wire.Members, error) {
	wire.SealOf(secret, nil).On(client)
	sealed := wire.Sealed{}
	var proven, foreign bool
	if err := client.ReadAll(ctx, bus.ErasureStatus, func(rec ingest.Record) error {
		if s, found := wire.ParseSealed(rec); found {
			sealed = s
		}
		proven, foreign = proven || rec.Unproven == "", foreign || rec.Unproven != ""
		return nil
	}); err != nil {
		return nil, err
	}
	if foreign && !proven {
		return nil, fmt.Errorf("%w: nothing on %s was written with this secret_file", ErrSettings,
			client.Name(bus.ErasureStatus))
	}
	before, err := sealed.Before()
	if err != nil {
		return nil, err
	}
	wire.SealOf(secret, before).On(client)
	known := new(wire.Members)
	return known, client.ReadAll(ctx, bus.ErasureStatus, func(rec ingest.Record) error {
		// What the deployment did not write says nothing.
		if n, err := ofProcess(rec); err == nil {
			known.Take(n)
		}
		return nil
	})
}
