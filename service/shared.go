package service

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"lethe/configs"
	"lethe/ingest"
	"lethe/ingest/authority"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
	"lethe/service/supervisor"
)

// ErrSettings marks a process whose settings differ from those it must share with others. The
// operator has to configure them equally.
var ErrSettings = errors.New("processes that share topics must share settings")

// shared are the settings that roles of several processes must have in common.
//
// Graphs determines the settings of slices and pseudonyms, which hold for the stream from its
// beginning, so for graphs itself too. Train determines the settings of models. It may change them,
// and score has to follow.
type shared struct {
	client   *bus.Client
	plays    func(role string) bool
	own      map[string]wire.Settings
	register *register
	// members are the processes that share roles, by their records; counted is called with their number.
	members *wire.Members
	counted func(*map[string]int)
	// latest are the newest settings of each role.
	latest map[string]wire.Settings
	// changes allows this process to use other settings than those that other members of its roles
	// have published.
	changes bool
	// next is the position up to which control.v1 was read when the process began.
	next int64
	// statuses are the ends of erasure-status.v1 at that time.
	statuses map[bus.TopicPartition]int64
	// junk is called with records that lethe did not write.
	junk func(rec ingest.Record)
	// authority defines whether strikes must be signed.
	authority authority.Policy
	// signed means that requests had to be signed before; key signs the record for requesters, which is in
	// requesters if this process runs graphs.
	signed     bool
	key        ed25519.PrivateKey
	requesters wire.Settings
}

// openShared compares the settings of this process with those of others, checks that no other
// process runs its roles, then publishes its own.
func (s *Service) openShared(ctx context.Context) (supervisor.Process, error) {
	run := make([]byte, 8)
	if _, err := io.ReadFull(s.o.Random, run); err != nil {
		return nil, fmt.Errorf("random source: %w", err)
	}
	s.run = hex.EncodeToString(run)
	shares := sharing(s.config)
	alone := slices.DeleteFunc(s.config.Plays(), func(role string) bool { return slices.Contains(shares, role) })
	p := &shared{
		authority: s.authority, key: s.key,
		client: s.patient, plays: s.config.HasRole, own: s.sharedSettings(), members: new(wire.Members),
		latest: make(map[string]wire.Settings), changes: s.o.ChangeSettings || s.o.TakeOver,
		register: newRegister(s.instance, s.run, s.o.TakeOver, alone, shares, s.o.Now),
		junk: func(rec ingest.Record) {
			s.outages.lastinglyOnce(fmt.Sprintf("%s/%d", rec.Topic, rec.Partition), "foreign",
				fmt.Sprintf("offset %d holds a record that lethe did not write%s", rec.Offset, because(rec)))
		},
		counted: s.directories.Store,
	}
	if err := p.compareBefore(ctx); err != nil {
		return nil, err
	}
	p.count()
	p.changes = false // records from now on are another change
	var err error
	if p.statuses, err = bus.EndsOf(ctx, s.patient, bus.ErasureStatus); err != nil {
		return nil, err
	}
	if n := len(p.register.strikes); n > 0 && s.authority.Operators {
		return nil, fmt.Errorf("%w: --take-over would strike off %d data directories, and here an admin must sign that: "+
			"strike them off first (lethe members strike INSTANCE --sign KEY)", ErrSettings, n)
	}
	records, err := p.records(s.config.Plays())
	if err != nil {
		return nil, err
	}
	return p, wire.PublishRecords(ctx, s.patient, records)
}

// compareBefore compares with the records from before the process began.
func (p *shared) compareBefore(ctx context.Context) error {
	var strangers others
	if err := p.client.ReadAround(ctx, bus.Control, func(rec ingest.Record) error {
		p.next = rec.Offset + 1
		strangers.note(rec)
		n, err := p.notice(rec)
		if n.Settings != nil {
			p.newest(*n.Settings)
			p.signed = p.signed || n.Settings.Values[wire.RequestsSigned] > "0"
		}
		p.members.Take(n)
		if err != nil {
			p.junk(rec)
		}
		return nil
	}, func(gap *bus.Gap) { p.next = gap.To }); err != nil {
		return err
	}
	if err := strangers.compare(p); err != nil {
		return err
	}
	var differ []error
	for _, role := range slices.Sorted(maps.Keys(p.latest)) {
		differ = append(differ, p.compare(p.latest[role]))
	}
	return errors.Join(append(differ, p.register.begin(p.members))...)
}

// records returns the records that the process publishes about its roles.
func (p *shared) records(roles []string) ([]ingest.Outgoing, error) {
	var records []ingest.Outgoing
	for _, role := range slices.Sorted(slices.Values(roles)) {
		if settings, has := p.own[role]; has {
			settings.Since = wire.Since(p.register.now(), p.latest[role].Since)
			p.latest[role] = settings
			record, err := settings.Record()
			if err != nil {
				return nil, err
			}
			records = append(records, record)
		}
		if role == configs.RoleGraphs {
			var err error
			if records, err = p.withRequesters(records); err != nil {
				return nil, err
			}
		}
		registered, err := p.register.records(role)
		if err != nil {
			return nil, err
		}
		records = append(records, registered...)
	}
	return records, nil
}

// compare reports every setting in which this process differs from the published ones of a role.
func (p *shared) compare(settings wire.Settings) error {
	own, known := p.own[settings.Role]
	if !known || settings.Role == configs.RoleTrain && !p.follows(settings.Role) {
		return nil
	}
	var differ []string
	for _, key := range slices.Sorted(maps.Keys(own.Values)) {
		if theirs, known := settings.Values[key]; known && theirs != own.Values[key] && !p.decides(key, settings.Role) {
			differ = append(differ, fmt.Sprintf("%s is %s here, %s has %s", key, own.Values[key], settings.Role, theirs))
		}
	}
	if len(differ) == 0 {
		return nil
	}
	remedy := "give this process the same, or start over with empty data directories and empty topics"
	if settings.Role == configs.RoleTrain {
		remedy = "give this process the same; to change them, start train with the new ones first, " +
			"with --change-settings where several processes train"
	}
	return fmt.Errorf("%w: %s (%s)", ErrSettings, strings.Join(differ, "; "), remedy)
}

// decides reports whether this process may change a setting of graphs: it carries out the erasures,
// alone or with permission to change it.
func (p *shared) decides(key, role string) bool {
	own := key == signingKeySetting || slices.Contains(requiredSignatures(), key)
	return own && p.plays(configs.RoleGraphs) && (p.changes || !p.others(role))
}

// follows reports whether the process must have the published settings of train: it scores, or
// shares the training, and has no permission to change them.
func (p *shared) follows(train string) bool {
	if !p.plays(train) {
		return p.plays(configs.RoleScore)
	}
	_, shares := p.register.members[train]
	return shares && p.others(train) && !p.changes
}

// Run implements supervisor.Process: it processes the records of processes that begin later.
func (p *shared) Run(ctx context.Context) error {
	from := maps.Clone(p.statuses)
	from[bus.TopicPartition{Topic: bus.Control}] = p.next
	tail, err := p.client.Tail(from)
	if err != nil {
		return err
	}
	defer tail.Close()
	for {
		batch, err := tail.Next(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, bus.ErrInterrupted) {
			continue // the client's watch reports it
		}
		if err != nil {
			return err
		}
		for _, rec := range batch.Records {
			switch {
			case batch.Source.Topic == bus.Control:
				err = p.take(ctx, rec)
			case p.requesters.Role != "" && wire.IsForRequesters(rec):
				err = p.republish(ctx, rec)
			}
			if err != nil {
				return err
			}
		}
		p.count()
	}
}

// count counts the data directories that share each role with a consumer group.
func (p *shared) count() {
	directories := directoriesOf(p.members)
	p.counted(&directories)
}

// take compares with the record of a process that began later.
func (p *shared) take(ctx context.Context, rec ingest.Record) error {
	n, err := p.notice(rec)
	if err != nil {
		p.junk(rec)
	}
	p.members.Take(n)
	settings, compared := p.latest[roleOf(n)]
	if n.Settings != nil {
		settings, compared = *n.Settings, p.newest(*n.Settings)
		if !compared {
			return p.again(ctx, settings.Role)
		}
	}
	if compared {
		if err := p.compare(settings); err != nil {
			return err
		}
	}
	again, err := p.register.take(n)
	if err != nil || !again {
		return err
	}
	role := roleOf(n)
	if n.Instance != nil {
		role = n.Instance.Role
	}
	records, err := p.register.records(role)
	if err != nil {
		return err
	}
	return p.client.Write(ctx, bus.Control, records)
}

// again republishes the newest settings of a role, if this process runs it: stale ones that arrived late have
// replaced them, and the next process to start would use those.
func (p *shared) again(ctx context.Context, role string) error {
	if !p.plays(role) {
		return nil
	}
	record, err := p.latest[role].Record()
	if err != nil {
		return err
	}
	return p.client.Write(ctx, bus.Control, []ingest.Outgoing{record})
}

// Close implements supervisor.Process; Run cleans up.
func (p *shared) Close() error { return nil }
