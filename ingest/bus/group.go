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
	// Name follows the topic prefix in the group's name.
	Name string
	// Topic is whose partitions are shared. The group reads none of them: who a partition is
	// assigned to follows it with a Tail and keeps its own position.
	Topic Topic
	// CommitEvery is how often positions are committed, 0 for once a second.
	CommitEvery time.Duration
	// Rank, if not nil, tells how much is to be said for this member, when somebody comes or
	// goes: the partitions go to the one of whom most is to be said, all of them. Without it
	// they are spread.
	Rank func() Rank
}

// Assigned is what a member of a group has to do, from when it is told until the next time.
type Assigned struct {
	// Generation is greater than in every assignment before, as long as brokers know the group.
	Generation int64
	// Partitions ascend; a member may have none.
	Partitions []int
}

// Member is what a member of a group is told, and asked. Each of its functions returns soon.
type Member struct {
	// Assigned is told of each assignment, also one without partitions. While brokers are away
	// or the group is rebalanced nothing is told, so a member may go on with what others do as
	// well: who shares work must bear that.
	Assigned func(Assigned)
	// Positions returns up to where partitions, of whichever topics, are dealt with, none if that is not
	// known. A member to which something is assigned commits them: of the shared topic those that are its
	// own, of others all.
	Positions func() map[TopicPartition]int64
	// Committed, if not nil, is told that a broker took what was committed and so held the
	// member for one of the generation when it was asked, or later.
	Committed func(generation int64, asked time.Time)
	// Trouble is told as often as it is met.
	Trouble func(error)
}

// heartbeats is how many of them brokers get within a session.
const heartbeats = 6

const (
	// commitEvery is how often positions are committed where nothing else is said.
	commitEvery = time.Second
	// commitSoon is how often a member is asked for positions that has none yet, and wants to know whether brokers
	// take them.
	commitSoon = 50 * time.Millisecond
)

// Sharer shares work with the other processes of a deployment.
type Sharer struct {
	Client *Client
}

// Session is after which silence brokers give a member's partitions to others.
func (s Sharer) Session() time.Duration { return s.Client.cfg.SessionTimeout }

// Share is a member of the group until the context ends, which is no error, and leaves it
// then. Errors: ErrSession.
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
	// Leaving takes a request to a broker that may be away.
	defer func() { _ = group.Close() }()
	// What brokers refuse at the start is for the operator; later it may be a setting of theirs.
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

// commits commits positions as long as something is assigned.
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

// commit commits what has changed; all, where somebody wants to know whether brokers take it. Of who wants to know that
// it reports whether there was something.
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

// Positions returns what members of a group have committed of partitions. Those of which nothing
// is committed are missing. A patient client waits until brokers say it.
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

// Members counts the members of a group that brokers have heard of within a session; its name follows the topic prefix.
// Errors: those of the brokers.
func (s Sharer) Members(ctx context.Context, name string) (int, error) {
	group := s.Client.cfg.TopicPrefix + name
	answer, err := s.Client.kafka.DescribeGroups(ctx, &kafka.DescribeGroupsRequest{GroupIDs: []string{group}})
	if err == nil && len(answer.Groups) != 1 {
		err = fmt.Errorf("brokers told of %d groups, want 1", len(answer.Groups))
	}
	if err == nil {
		err = answer.Groups[0].Error
	}
	if err != nil {
		return 0, fmt.Errorf("consumer group %s: %w", name, s.Client.explain(ctx, err))
	}
	return len(answer.Groups[0].Members), nil
}

// Rank is how much is to be said for giving a group's partitions to a member.
type Rank struct {
	// Has is the generation since which the member has them, 0 if it has not: whoever comes does
	// not take them away.
	Has int64
	// Far is how far the member has come with what it would go on with.
	Far int64
}

const rankBytes = 16

func (r Rank) encode() []byte {
	out := binary.BigEndian.AppendUint64(make([]byte, 0, rankBytes), uint64(r.Has))
	return binary.BigEndian.AppendUint64(out, uint64(r.Far))
}

// decodeRank reads what encode wrote; anything else ranks last.
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
