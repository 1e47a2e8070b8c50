package bus

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"
)

// GroupConfig is a consumer group that shares the partitions of a topic.
type GroupConfig struct {
	// Name follows the topic prefix in the group id.
	Name string
	// Topic is the topic whose partitions are assigned. The group does not read them: a
	// member follows its partitions with a Tail and stores its own position.
	Topic Topic
	// CommitEvery is the interval of commits, 0 for a second.
	CommitEvery time.Duration
	// Rank, if not nil, returns the priority of this member. At each rebalance all
	// partitions are assigned to the member with the highest rank. Without it they are
	// spread over the members.
	Rank func() Rank
}

// Assigned is an assignment of a member, valid until the next one.
type Assigned struct {
	// Generation is greater than in every earlier assignment, as long as brokers know the
	// group.
	Generation int64
	// Partitions are in ascending order; a member may have none.
	Partitions []int
}

// Member has the callbacks of a group member. Each of them must return soon.
type Member struct {
	// Assigned is called with each assignment, also one without partitions. It is not
	// called while brokers are down or the group is rebalancing, so several members may
	// work on the same partitions: callers must tolerate that.
	Assigned func(Assigned)
	// Positions returns the processed position by partition, of any topics, or none if it is not
	// known. A member with an assignment commits them: of the shared topic only its own
	// partitions, of other topics all.
	Positions func() map[TopicPartition]int64
	// Committed, if not nil, is called after a broker accepted a commit, and so
	// considered the member part of the generation at the time asked or later.
	Committed func(generation int64, asked time.Time)
	// Trouble is called with every error.
	Trouble func(error)
}

// heartbeats is the number of heartbeats sent within a session timeout.
const heartbeats = 6

const (
	// commitEvery is the default interval of commits.
	commitEvery = time.Second
	// commitSoon is how often Positions is called for a member that has no position yet but needs
	// Committed.
	commitSoon = 50 * time.Millisecond
)

// Sharer shares work with the other processes of a deployment through consumer groups.
type Sharer struct {
	Client *Client
}

// Session returns the silence after which brokers reassign a member's partitions.
func (s Sharer) Session() time.Duration { return s.Client.cfg.SessionTimeout }

// Share joins the group until the context ends, which is no error, and then leaves it.
// Errors: ErrSession.
func (s Sharer) Share(ctx context.Context, g GroupConfig, m Member) error {
	c := s.Client
	dialer := &kafka.Dialer{
		ClientID: c.cfg.ClientID, Timeout: c.cfg.DialTimeout, DialFunc: dialing(&c.cfg),
	}
	session := c.cfg.SessionTimeout
	config := kafka.ConsumerGroupConfig{
		ID: c.cfg.TopicPrefix + g.Name, Brokers: []string{anyBroker}, Dialer: dialer, Topics: []string{c.Name(g.Topic)},
		SessionTimeout: session, RebalanceTimeout: session, HeartbeatInterval: session / heartbeats,
		JoinGroupBackoff: session / heartbeats, Timeout: c.cfg.RequestTimeout,
	}
	if g.Rank != nil {
		config.GroupBalancers = []kafka.GroupBalancer{toTheFirst{g.Rank}}
	}
	group, err := kafka.NewConsumerGroup(config)
	if err != nil {
		return fmt.Errorf("consumer group %s: %w", g.Name, err)
	}
	// Leaving sends a request to a broker that may be down.
	defer func() { _ = group.Close() }()
	// A refusal at the start is for the operator; a later one may be caused by a broker's
	// setting.
	joined := false
	for {
		generation, err := group.Next(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, kafka.InvalidSessionTimeout) && !joined:
			return fmt.Errorf("consumer group %s: %w", g.Name, refusedSession(ctx, c, err))
		case errors.Is(err, kafka.ErrGroupClosed):
			return fmt.Errorf("consumer group %s: %w", g.Name, err)
		case err != nil:
			if !errors.Is(err, kafka.RebalanceInProgress) {
				m.Trouble(fmt.Errorf("consumer group %s: %w", g.Name, c.explain(ctx, err)))
			}
			continue
		}
		joined = true
		mine := Assigned{Generation: int64(generation.ID)}
		for _, p := range generation.Assignments[c.Name(g.Topic)] {
			mine.Partitions = append(mine.Partitions, p.ID)
		}
		slices.Sort(mine.Partitions)
		m.Assigned(mine)
		generation.Start(func(during context.Context) { commits{c, g, generation, mine, m}.run(during) })
	}
}

// commits commits positions while the member has an assignment.
type commits struct {
	client     *Client
	group      GroupConfig
	generation *kafka.Generation
	mine       Assigned
	member     Member
}

func (c commits) run(ctx context.Context) {
	every := c.group.CommitEvery
	if every == 0 {
		every = commitEvery
	}
	committed := make(map[TopicPartition]int64)
	for {
		wait := every
		if !c.commit(committed) {
			wait = min(every, commitSoon)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// commit commits the positions that have changed, or all of them if the member needs Committed; for
// such a member it reports whether there was a position.
func (c commits) commit(before map[TopicPartition]int64) bool {
	if len(c.mine.Partitions) == 0 {
		return true
	}
	changed, now := make(map[string]map[int]int64), c.member.Positions()
	for tp, at := range now {
		last, known := before[tp]
		others := tp.Topic == c.group.Topic && !slices.Contains(c.mine.Partitions, tp.Partition)
		if others || at < 0 || known && at == last && c.member.Committed == nil {
			continue
		}
		name := c.client.Name(tp.Topic)
		if changed[name] == nil {
			changed[name] = make(map[int]int64)
		}
		changed[name][tp.Partition] = at
	}
	if len(changed) == 0 {
		return c.member.Committed == nil
	}
	asked := time.Now()
	if c.generation.CommitOffsets(changed) != nil {
		return true // the generation ends
	}
	for tp, at := range now {
		before[tp] = at
	}
	if c.member.Committed != nil {
		c.member.Committed(c.mine.Generation, asked)
	}
	return true
}

// Positions returns the positions that members of a group have committed for partitions.
// Partitions without a commit are missing. A patient client waits until brokers respond.
func (s Sharer) Positions(
	ctx context.Context, g GroupConfig, of []TopicPartition,
) (positions map[TopicPartition]int64, err error) {
	c := s.Client
	ask := &kafka.OffsetFetchRequest{GroupID: c.cfg.TopicPrefix + g.Name, Topics: make(map[string][]int)}
	for _, tp := range of {
		ask.Topics[c.Name(tp.Topic)] = append(ask.Topics[c.Name(tp.Topic)], tp.Partition)
	}
	var answer *kafka.OffsetFetchResponse
	err = until(ctx, c, "consumer group "+g.Name, func() (err error) {
		if answer, err = c.kafka.OffsetFetch(ctx, ask); err == nil {
			err = answer.Error
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("positions: %w", c.explain(ctx, err))
	}
	positions = make(map[TopicPartition]int64)
	for _, tp := range of {
		for _, p := range answer.Topics[c.Name(tp.Topic)] {
			if p.Partition == tp.Partition && p.Error == nil && p.CommittedOffset >= 0 {
				positions[tp] = p.CommittedOffset
			}
		}
	}
	return positions, nil
}

// Members counts the members of a group with a live session; its name follows the topic prefix.
// Errors: those of the brokers.
func (s Sharer) Members(ctx context.Context, name string) (int, error) {
	group := s.Client.cfg.TopicPrefix + name
	answer, err := s.Client.kafka.DescribeGroups(ctx, &kafka.DescribeGroupsRequest{GroupIDs: []string{group}})
	if err == nil && len(answer.Groups) != 1 {
		err = fmt.Errorf("brokers returned %d groups, want 1", len(answer.Groups))
	}
	if err == nil {
		err = answer.Groups[0].Error
	}
	if err != nil {
		return 0, fmt.Errorf("consumer group %s: %w", name, s.Client.explain(ctx, err))
	}
	return len(answer.Groups[0].Members), nil
}

// Rank is the priority of a member when a group's partitions are assigned.
type Rank struct {
	// Has is the generation since which the member has the partitions, 0 if it does not have
	// them: a new member does not preempt it.
	Has int64
	// Far is how far the member's state has advanced.
	Far int64
}

const rankBytes = 16

func (r Rank) encode() []byte {
	out := binary.BigEndian.AppendUint64(make([]byte, 0, rankBytes), uint64(r.Has))
	return binary.BigEndian.AppendUint64(out, uint64(r.Far))
}

// decodeRank decodes the output of encode; anything else ranks last.
func decodeRank(data []byte) Rank {
	if len(data) != rankBytes {
		return Rank{}
	}
	return Rank{int64(binary.BigEndian.Uint64(data)), int64(binary.BigEndian.Uint64(data[rankBytes/2:]))}
}

// toTheFirst gives all partitions to the member that ranks first.
type toTheFirst struct{ rank func() Rank }

var _ kafka.GroupBalancer = toTheFirst{}

// ProtocolName implements kafka.GroupBalancer.
func (toTheFirst) ProtocolName() string { return "lethe-first" }

// UserData implements kafka.GroupBalancer.
func (b toTheFirst) UserData() ([]byte, error) { return b.rank().encode(), nil }

// AssignGroups implements kafka.GroupBalancer.
func (toTheFirst) AssignGroups(members []kafka.GroupMember, partitions []kafka.Partition) kafka.GroupMemberAssignments {
	out := make(kafka.GroupMemberAssignments)
	if len(members) == 0 {
		return out
	}
	first := slices.MaxFunc(members, func(a, b kafka.GroupMember) int {
		x, y := decodeRank(a.UserData), decodeRank(b.UserData)
		return cmp.Or(cmp.Compare(x.Has, y.Has), cmp.Compare(x.Far, y.Far), cmp.Compare(b.ID, a.ID))
	})
	for _, m := range members {
		out[m.ID] = make(map[string][]int)
	}
	for _, p := range partitions {
		out[first.ID][p.Topic] = append(out[first.ID][p.Topic], p.ID)
	}
	return out
}
