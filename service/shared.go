package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lethe/configs"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
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
	client *bus.Client
	plays  func(role string) bool
	own    map[string]wire.Settings
	// next is how far erasure-status.v1 was read when the process began.
	next int64
}

// openShared compares the settings of this process with what others said, then
// says its own.
func (s *Service) openShared(ctx context.Context) (supervisor.Process, error) {
	p := &shared{client: s.client, plays: s.config.HasRole, own: s.sharedSettings()}
	said := make(map[string]wire.Settings)
	if err := s.client.ReadAll(ctx, bus.ErasureStatus, func(rec ingest.Record) error {
		p.next = rec.Offset + 1
		settings, found, err := wire.ParseSettings(rec)
		if found {
			said[settings.Role] = settings
		}
		return err
	}); err != nil {
		return nil, err
	}
	var differ []error
	for _, role := range slices.Sorted(maps.Keys(said)) {
		differ = append(differ, p.compare(said[role]))
	}
	if err := errors.Join(differ...); err != nil {
		return nil, err
	}
	var records []ingest.Outgoing
	for _, role := range slices.Sorted(maps.Keys(p.own)) {
		if !p.plays(role) {
			continue
		}
		record, err := p.own[role].Record()
		if err != nil {
			return nil, err
		}
		records = append(records, record)
	}
	return p, s.client.Write(ctx, bus.ErasureStatus, records)
}

// sharedSettings are the settings that this process would say for each role.
func (s *Service) sharedSettings() map[string]wire.Settings {
	values := s.config.Values()
	values["trainer.kernels"] = s.kernels.Name
	// Enough to tell two keys apart, and of no use to guess one.
	values["secret_file"] = "key " + s.secret.Hash("shared settings").String()[:16]
	graphs, train := make(map[string]string), make(map[string]string)
	for _, key := range []string{
		"seed", "partition.shards", "repair.one_hop", "repair.one_hop_directed", "secret_file",
	} {
		graphs[key] = values[key]
	}
	for key, value := range values {
		if strings.HasPrefix(key, "trainer.") && key != "trainer.workers" {
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
		if theirs, known := said.Values[key]; known && theirs != own.Values[key] {
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
			continue // the roles say so
		}
		if err != nil {
			return err
		}
		for _, rec := range batch.Records {
			settings, found, err := wire.ParseSettings(rec)
			if err == nil && found {
				err = p.compare(settings)
			}
			if err != nil {
				return err
			}
		}
	}
}

// Close implements supervisor.Process; Run leaves nothing open.
func (p *shared) Close() error { return nil }
