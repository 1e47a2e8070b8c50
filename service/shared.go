package service

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"lethe/configs"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
	"lethe/scoring"
	"lethe/service/supervisor"
)

// ErrSettings is returned for a process that has not the settings in common with
// others that it must. The operator gives all the same.
var ErrSettings = errors.New("processes that share topics must share settings")

// shared are the settings that roles of several processes must have in common.
//
// Graphs says what slices and pseudonyms are made with, which holds for the stream
// from its beginning, so for graphs itself too. Train says what models are made
// with. It may change that, and score has to follow.
type shared struct {
	client   *bus.Client
	plays    func(role string) bool
	own      map[string]wire.Settings
	register *register
	// next is how far erasure-status.v1 was read when the process began.
	next int64
	// junk is told of records that lethe did not write.
	junk func(rec ingest.Record)
}

// openShared compares the settings of this process with what others said, and that
// nobody else plays its roles, then says its own.
func (s *Service) openShared(ctx context.Context) (supervisor.Process, error) {
	run := make([]byte, 8)
	if _, err := io.ReadFull(s.o.Random, run); err != nil {
		return nil, fmt.Errorf("random source: %w", err)
	}
	p := &shared{
		client: s.patient, plays: s.config.HasRole, own: s.sharedSettings(),
		register: newRegister(s.instance, hex.EncodeToString(run), s.o.TakeOver, s.config.Plays(), s.o.Now),
		junk: func(rec ingest.Record) {
			s.outages.lastingly(fmt.Sprintf("%s/%d", rec.Topic, rec.Partition),
				fmt.Sprintf("offset %d holds a record that lethe did not write%s", rec.Offset, because(rec)))
		},
	}
	if err := p.compareBefore(ctx); err != nil {
		return nil, err
	}
	records, err := p.records(s.config.Plays())
	if err != nil {
		return nil, err
	}
	return p, s.patient.Write(ctx, bus.ErasureStatus, records)
}

// compareBefore compares with what was said before the process began.
func (p *shared) compareBefore(ctx context.Context) error {
	said, there := make(map[string]wire.Settings), make(map[string]wire.Instance)
	var strangers others
	if err := p.client.ReadAround(ctx, bus.ErasureStatus, func(rec ingest.Record) error {
		p.next = rec.Offset + 1
		strangers.note(rec)
		settings, isSettings, err := wire.ParseSettings(rec)
		if isSettings {
			said[settings.Role] = settings
		}
		instance, isInstance, alsoErr := wire.ParseInstance(rec)
		if isInstance {
			there[instance.Role] = instance
		}
		if err != nil || alsoErr != nil {
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
	for _, role := range slices.Sorted(maps.Keys(said)) {
		differ = append(differ, p.compare(said[role]))
	}
	for _, role := range slices.Sorted(maps.Keys(there)) {
		differ = append(differ, p.register.before(there[role]))
	}
	return errors.Join(differ...)
}

// records are what the process says of its roles.
func (p *shared) records(roles []string) ([]ingest.Outgoing, error) {
	var records []ingest.Outgoing
	for _, role := range slices.Sorted(slices.Values(roles)) {
		if settings, has := p.own[role]; has {
			record, err := settings.Record()
			if err != nil {
				return nil, err
			}
			records = append(records, record)
		}
		record, err := p.register.record(role)
		if err != nil {
			return nil, err
		}
		records = append(records, record)
	}
	return records, nil
}

// sharedSettings are the settings that this process would say for each role.
func (s *Service) sharedSettings() map[string]wire.Settings {
	values := s.config.Values()
	values["trainer.kernels"] = s.kernels.Name
	values["secret_file"] = "key " + wire.SecretCheck(s.secret)
	graphs, train := make(map[string]string), make(map[string]string)
	for _, key := range []string{
		"seed", "partition.shards", "repair.one_hop", "repair.one_hop_directed", "secret_file",
	} {
		graphs[key] = values[key]
	}
	for _, key := range requiredSignatures() {
		graphs[key] = values[key]
	}
	for topic, count := range s.partitions {
		graphs["partitions of "+string(topic)] = strconv.Itoa(count)
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

// compare names every setting in which this process differs from what a role said.
func (p *shared) compare(said wire.Settings) error {
	own, known := p.own[said.Role]
	if !known || said.Role == configs.RoleTrain && (p.plays(said.Role) || !p.plays(configs.RoleScore)) {
		return nil
	}
	var differ []string
	for _, key := range slices.Sorted(maps.Keys(own.Values)) {
		// What another version does not know is not compared.
		if theirs, known := said.Values[key]; known && theirs != own.Values[key] && !p.decides(key) {
			differ = append(differ, fmt.Sprintf("%s is %s here, %s has %s", key, own.Values[key], said.Role, theirs))
		}
	}
	if len(differ) == 0 {
		return nil
	}
	remedy := "give this process the same, or begin anew with empty data directories and empty topics"
	if said.Role == configs.RoleTrain {
		remedy = "give this process the same; to change them, start train with the new ones first"
	}
	return fmt.Errorf("%w: %s (%s)", ErrSettings, strings.Join(differ, "; "), remedy)
}

// requiredSignatures are the settings that say which records must be signed.
func requiredSignatures() []string {
	return []string{"signatures.control", wire.RequestsSigned, "signatures.operators"}
}

// decides reports whether a setting of the graphs is this process's to change.
func (p *shared) decides(key string) bool {
	return p.plays(configs.RoleGraphs) && slices.Contains(requiredSignatures(), key)
}

// Run implements supervisor.Process: it listens to processes that begin later.
func (p *shared) Run(ctx context.Context) error {
	tail, err := p.client.Tail(map[bus.TopicPartition]int64{{Topic: bus.ErasureStatus}: p.next})
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
			continue // the client's watch says so
		}
		if err != nil {
			return err
		}
		for _, rec := range batch.Records {
			if err := p.take(ctx, rec); err != nil {
				return err
			}
		}
	}
}

// take compares with what a process says that began later.
func (p *shared) take(ctx context.Context, rec ingest.Record) error {
	settings, found, junk := wire.ParseSettings(rec)
	if found {
		if err := p.compare(settings); err != nil {
			return err
		}
	}
	instance, found, alsoJunk := wire.ParseInstance(rec)
	if junk != nil || alsoJunk != nil {
		p.junk(rec)
	}
	if !found {
		return nil
	}
	again, err := p.register.take(instance)
	if err != nil || !again {
		return err
	}
	record, err := p.register.record(instance.Role)
	if err != nil {
		return err
	}
	return p.client.Write(ctx, bus.ErasureStatus, []ingest.Outgoing{record})
}

// Close implements supervisor.Process; Run leaves nothing open.
func (p *shared) Close() error { return nil }

// learntWith are the settings of scoring that train must know too: those of a meta-model.
func learntWith(c configs.Config) map[string]bool {
	shared := map[string]bool{"scoring.aggregation": true}
	if c.Scoring.Aggregation == scoring.MethodStack {
		for _, key := range []string{"scoring.threshold", "scoring.calibration", "scoring.learn_timesteps"} {
			shared[key] = true
		}
	}
	return shared
}
