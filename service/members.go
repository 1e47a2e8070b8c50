package service

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"lethe"
	"lethe/configs"
	"lethe/ingest"
	"lethe/ingest/authority"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
	"lethe/scoring"
)

// ErrMember marks an instance that is not a member of a role, or is its only one.
var ErrMember = errors.New("no such member")

// ErrNotLost marks an instance that may not be struck off, because its data directory is there.
var ErrNotLost = errors.New("not lost")

// Member is a data directory that runs a role, alone or with others, or was struck off.
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

// Membership lets an operator list and change which data directories run the roles of a deployment.
type Membership struct {
	// Client is changed to check codes like processes of the deployment do.
	Client *bus.Client
	Secret lethe.Secret
	// Authority defines whether strikes must be signed.
	Authority authority.Policy
	// DataDir is the data directory here, which is not lost, or empty.
	DataDir string
}

// List lists the data directories of a deployment, by role and instance; those that were struck off
// come last.
func (m Membership) List(ctx context.Context) ([]Member, error) {
	known, err := m.known(ctx)
	if err != nil {
		return nil, err
	}
	list := []Member{}
	for _, role := range []string{
		configs.RoleGraphs, configs.RoleErasure, configs.RoleTrain, configs.RoleScore, configs.RoleView,
	} {
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

// Strike declares that the data directory of an instance, which may be given by a prefix, is permanently gone:
// erasures no longer wait for it, receipts name it, and it may not return. It is signed with the keys, those of an
// admin if the deployment requires that. A record that would be ignored is not written. Errors: ErrMember,
// ErrNotLost, ErrUnsigned, those of the brokers.
func (m Membership) Strike(
	ctx context.Context, role, instance string, at time.Time, keys ...crypto.Signer,
) (Member, error) {
	known, err := m.known(ctx)
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
	if err != nil {
		return Member{}, err
	}
	name := m.Client.Name(bus.Control)
	if record, err = (authority.Signer{Keys: keys, Topic: name, At: at}).Sign(record); err != nil {
		return Member{}, err
	}
	if m.Authority.Operators {
		written := ingest.Record{Topic: name, Key: record.Key, Value: record.Value, Headers: record.Headers}
		if _, refusal := m.Authority.Check(written, authority.Admin); refusal != nil {
			return Member{}, fmt.Errorf("%w: %w (sign with --sign KEY, a key of the role %s)", ErrUnsigned, refusal,
				authority.Admin)
		}
	}
	here, lost := os.ReadFile(configs.InstancePath(m.DataDir))
	if lost == nil && strings.TrimSpace(string(here)) == found[0] {
		return Member{}, fmt.Errorf("%w: instance %s is the data directory %s, which is here (strike off only what is gone "+
			"for good: stop lethe run there, and delete the folder first)", ErrNotLost, found[0], m.DataDir)
	}
	err = m.Client.Write(ctx, bus.Control, []ingest.Outgoing{record})
	return Member{Role: role, Instance: found[0], State: stateStruck, StruckAt: at.UTC().Truncate(time.Millisecond)}, err
}

// ErrUnsigned marks a command about processes that must be signed and has no valid signature.
// Nothing was written.
var ErrUnsigned = errors.New("commands about processes must be signed here")

// known reads the published memberships and checks the codes of records.
func (m Membership) known(ctx context.Context) (*wire.Members, error) {
	wire.SealOf(m.Secret, nil).On(m.Client)
	var proven, foreign bool
	known, graphs := new(wire.Members), wire.Settings{}
	err := readControl(ctx, m.Client, func(rec ingest.Record) error {
		proven, foreign = proven || rec.Unauthenticated == "", foreign || rec.Unauthenticated != ""
		// Records that the deployment did not write are ignored.
		n, wrong := ofProcess(rec)
		switch {
		case wrong != nil || n.Strike != nil && n.Strike.Refusal(m.Authority) != nil:
			return nil //nolint:nilerr // it is ignored
		case n.Settings != nil && n.Settings.Role == configs.RoleGraphs && !n.Settings.Late(graphs):
			graphs = *n.Settings
		}
		known.Take(n)
		return nil
	})
	if err == nil && foreign && !proven {
		return nil, fmt.Errorf("%w: nothing on %s was written with this secret_file", ErrSettings,
			m.Client.Name(bus.Control))
	}
	if err == nil && graphs.Values[operatorsSigned] == "true" && !m.Authority.Operators {
		err = fmt.Errorf("%w: give this command the deployment's signatures.keys_file and signatures.operators too "+
			"(--config)", ErrSettings)
	}
	return known, err
}

// operatorsSigned is the setting that requires signatures of commands about processes.
const operatorsSigned = "signatures.operators"

// requiredSignatures lists the settings that define which records must be signed.
func requiredSignatures() []string {
	return []string{"signatures.control", wire.RequestsSigned, operatorsSigned}
}

// signingKeySetting is the key that signs receipts; all processes that may carry out erasures must
// have the same one.
const signingKeySetting = "signing_key_file"

// withRequesters adds a record that informs requesters how many people must sign an erasure request; requesters do not
// read the processes' own records. If signatures were never required, nothing is published.
func (p *shared) withRequesters(records []ingest.Outgoing) ([]ingest.Outgoing, error) {
	signed := p.own[configs.RoleGraphs].Values[wire.RequestsSigned]
	p.requesters = wire.Settings{
		Role: wire.Requests, Values: map[string]string{wire.RequestsSigned: signed},
		Since: p.latest[configs.RoleGraphs].Since,
	}
	if signed == "0" && !p.signed {
		return records, nil
	}
	own, err := p.requesterRecord()
	return append(records, own...), err
}

// requesterRecord is that record.
func (p *shared) requesterRecord() ([]ingest.Outgoing, error) {
	record, err := p.requesters.Record()
	if err != nil {
		return nil, err
	}
	return wire.SignAnswers([]ingest.Outgoing{record}, p.key)
}

// republish republishes it if another record has replaced it: a copy of an earlier one, which can be written
// without a key, or one that the deployment has not signed.
func (p *shared) republish(ctx context.Context, rec ingest.Record) error {
	settings, signed := wire.RequesterSettings(rec, p.key.Public().(ed25519.PublicKey))
	if signed && !settings.Late(p.requesters) {
		return nil
	}
	own, err := p.requesterRecord()
	if err != nil {
		return err
	}
	return wire.PublishRecords(ctx, p.client, own)
}

// notice is ofProcess without strikes that lack a required signature.
func (p *shared) notice(rec ingest.Record) (wire.Notice, error) {
	n, err := ofProcess(rec)
	if n.Strike != nil && n.Strike.Refusal(p.authority) != nil {
		n.Strike = nil // the coordinator reports it
	}
	return n, err
}

// ofProcess decodes records that processes publish about themselves, and ignores others.
func ofProcess(rec ingest.Record) (wire.Notice, error) {
	if !strings.HasPrefix(string(rec.Key), "!") {
		return wire.Notice{}, nil
	}
	return wire.ParseNotice(rec)
}

// roleOf is the role that a process shares from now on, or "". Its settings were published before.
func roleOf(n wire.Notice) string {
	if n.Member == nil {
		return ""
	}
	return n.Member.Role
}

// newest stores the published settings of a role, unless they are stale.
func (p *shared) newest(s wire.Settings) bool {
	if s.Late(p.latest[s.Role]) {
		return false
	}
	p.latest[s.Role] = s
	return true
}

// sharedSettings are the settings that this process publishes for each role.
func (s *Service) sharedSettings() map[string]wire.Settings {
	values := s.config.Values()
	values["trainer.kernels"] = s.kernels.Name
	values[namesSetting] = ruleOf(s.config.Ingest.Records.Normalise)
	values["secret_file"] = "key " + wire.SecretCheck(s.secret)
	graphs, train := make(map[string]string), make(map[string]string)
	for _, key := range []string{
		"seed", "partition.shards", "repair.one_hop", "repair.one_hop_directed", "secret_file", namesSetting,
	} {
		graphs[key] = values[key]
	}
	for _, key := range requiredSignatures() {
		graphs[key] = values[key]
	}
	for topic, count := range s.partitions {
		graphs["partitions of "+string(topic)] = strconv.Itoa(count)
	}
	if s.config.HasRole(configs.RoleGraphs) {
		public := s.key.Public().(ed25519.PublicKey)
		sum := sha256.Sum256(public)
		graphs[signingKeySetting] = "key " + hex.EncodeToString(sum[:8])
	}
	for key, value := range values {
		trains := strings.HasPrefix(key, "trainer.") && key != "trainer.workers"
		if trains || learntWith(s.config)[key] {
			train[key] = value
		}
	}
	return map[string]wire.Settings{
		configs.RoleGraphs: {Role: configs.RoleGraphs, Values: graphs},
		configs.RoleTrain:  {Role: configs.RoleTrain, Values: train},
	}
}

// learntWith are the settings of scoring that train needs, too: those of a meta-model.
func learntWith(c configs.Config) map[string]bool {
	shared := map[string]bool{"scoring.aggregation": true}
	if c.Scoring.Aggregation == scoring.MethodStack {
		for _, key := range []string{"scoring.threshold", "scoring.calibration", "scoring.learn_timesteps"} {
			shared[key] = true
		}
	}
	return shared
}
