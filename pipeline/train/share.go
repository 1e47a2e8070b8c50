package train

import (
	"context"
	"log/slog"
	"slices"
	"sync"

	"lethe"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
)

// groupName is the consumer group, behind the topic prefix.
const groupName = "train"

// share decides which models this process makes. The unit is a partition of slices.v1: its owner makes the models
// whose first shard is in it. All processes have all slices and adopt others' models, so that a new owner continues
// where the last stopped.
//
// Ownership never affects the result: two owners make the same bytes. So no process waits for another to give a unit
// up, and a lone process starts before an assignment.
type share struct {
	instance string
	sharer   role.Sharer
	bus      role.Bus
	log      *slog.Logger
	wake     chan struct{}
	units    int

	// group is written by the goroutine in the group.
	mu    sync.Mutex
	group group
	// trouble is the last reported error, until the next assignment.
	trouble string

	members wire.Members
	// read are the positions read, processed those of processed slices.
	read      map[bus.TopicPartition]int64
	processed map[int]int64
	// owned are this process's units, latest the newest known owners.
	owned, latest map[int]wire.Owner
}

// group is the state of the consumer group; ends is nil until it is known.
type group struct {
	assigned *bus.Assigned
	// ends must be read before a unit is taken over, or others' models would be made again.
	ends map[bus.TopicPartition]int64
}

func newShare(o Options) *share {
	return &share{
		instance: o.Instance, sharer: o.Sharer, bus: o.Bus, log: o.Logger, wake: make(chan struct{}, 1),
		read: make(map[bus.TopicPartition]int64), processed: make(map[int]int64),
		owned: make(map[int]wire.Owner), latest: make(map[int]wire.Owner),
	}
}

// topics are the consumed topics. A lone process knows the models that it has published.
func (s *share) topics() []bus.Topic {
	if s.sharer == nil {
		return []bus.Topic{bus.Slices}
	}
	return []bus.Topic{bus.Slices, bus.Models}
}

func (s *share) run(ctx context.Context) error {
	if err := s.setAssignment(ctx, nil); err != nil {
		return wire.UnlessStopped(ctx, err)
	}
	var failed error
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	err := s.sharer.Share(ctx, bus.GroupConfig{Name: groupName, Topic: bus.Slices}, bus.Member{
		Assigned: func(a bus.Assigned) {
			s.log.Info("train: partitions of slices.v1 are assigned", "generation", a.Generation, "partitions", a.Partitions)
			if failed = s.setAssignment(ctx, &a); failed != nil {
				stop()
			}
		},
		Positions: s.positions,
		Trouble:   s.reportTrouble,
	})
	if err == nil {
		err = failed
	}
	return wire.UnlessStopped(ctx, err)
}

// setAssignment records an assignment and the topics' present ends.
func (s *share) setAssignment(ctx context.Context, a *bus.Assigned) error {
	ends, err := bus.EndsOf(ctx, s.bus, append(s.topics(), bus.Control)...)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.group, s.trouble = group{a, ends}, ""
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return nil
}

// reportTrouble logs an error of the group once.
func (s *share) reportTrouble(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text := err.Error(); text != s.trouble {
		s.trouble = text
		s.log.Warn("train: the group that shares the work is out of reach", "error", err)
	}
}

// positions are those of processed slices.
func (s *share) positions() map[bus.TopicPartition]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[bus.TopicPartition]int64, len(s.processed))
	for unit, at := range s.processed {
		out[bus.TopicPartition{Topic: bus.Slices, Partition: unit}] = at
	}
	return out
}

// take records members and positions.
func (s *share) take(in role.Input) {
	for _, n := range in.Notices {
		s.members.Take(n)
	}
	if in.Batch.Source.Topic != "" {
		s.read[in.Batch.Source] = in.Batch.Next
	}
}

// settle takes over and gives up units, and reports whether it took any over.
func (s *share) settle(ctx context.Context) (took bool, err error) {
	if s.sharer == nil && s.group.ends == nil {
		if err := s.setAssignment(ctx, nil); err != nil {
			return false, err
		}
	}
	s.mu.Lock()
	now := s.group
	for unit := range s.units {
		// Slices that were read are stored.
		s.processed[unit] = s.read[bus.TopicPartition{Topic: bus.Slices, Partition: unit}]
	}
	s.mu.Unlock()
	wanted := s.wanted(now)
	for unit := range s.owned {
		if !slices.Contains(wanted, unit) {
			s.log.Info("train: a partition of slices.v1 goes to another process", "partition", unit)
			delete(s.owned, unit)
		}
	}
	for _, unit := range wanted {
		own, has := s.owned[unit]
		newest := s.latest[unit]
		switch {
		case !has && !s.caughtUp(now.ends), has && !own.Before(newest):
			continue
		case !has:
			took = true
			s.log.Info("train: took over a partition of slices.v1", "partition", unit, "generation", newest.Generation+1)
		}
		generation := newest.Generation + 1
		if now.assigned != nil {
			generation = max(generation, now.assigned.Generation)
		}
		if s.owned[unit] = (wire.Owner{}); s.sharer != nil {
			s.owned[unit] = wire.Owner{Generation: generation, Instance: s.instance}
		}
	}
	return took, nil
}

// wanted are this process's units: all if alone, else those assigned.
func (s *share) wanted(now group) (units []int) {
	others := slices.DeleteFunc(s.members.Of(roleName), func(member string) bool { return member == s.instance })
	switch {
	case now.ends == nil:
	case s.sharer == nil, len(others) == 0:
		for unit := range s.units {
			units = append(units, unit)
		}
	case now.assigned != nil:
		units = now.assigned.Partitions
	}
	return units
}

// caughtUp reports whether the topics were read to ends.
func (s *share) caughtUp(ends map[bus.TopicPartition]int64) bool {
	for tp, end := range ends {
		if s.read[tp] < end {
			return false
		}
	}
	return true
}

func (s *share) unitOf(shard lethe.ShardID) int { return wire.PartitionOf(shard, max(1, s.units)) }

// owns reports whether this process has a shard's unit.
func (s *share) owns(shard lethe.ShardID) bool {
	_, has := s.owned[s.unitOf(shard)]
	return has
}

// ownerOf is this process as owner of a shard's unit.
func (s *share) ownerOf(shard lethe.ShardID) wire.Owner { return s.owned[s.unitOf(shard)] }

// recordOwner records an owner of a shard's unit.
func (s *share) recordOwner(shard lethe.ShardID, o wire.Owner) {
	if unit := s.unitOf(shard); s.latest[unit].Before(o) {
		s.latest[unit] = o
	}
}
