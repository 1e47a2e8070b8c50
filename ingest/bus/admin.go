package bus

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lethe/ingest/bus/seeds"
)

// Admin checks and repairs the topics of a client's deployment: which topics exist, their
// partitions and settings, and where their logs begin.
type Admin struct{ client *Client }

// Admin returns the administration of the client's topics.
func (c *Client) Admin() Admin { return Admin{c} }

// Problem is a difference between a topic and its required configuration.
type Problem struct {
	Topic Topic
	// Setting is "topic" if the topic is missing, "partitions", "replication", or
	// the name of a broker's topic setting.
	Setting    string
	Have, Want string
}

// String returns one line for an operator.
func (p Problem) String() string {
	return fmt.Sprintf("%s: %s is %s, want %s", p.Topic, p.Setting, p.Have, p.Want)
}

// Warning returns one line for an operator, with the consequence.
func (p Problem) Warning() string { return p.String() + ": " + p.Follows() }

// Follows describes the consequence of running with a setting that differs, if lethe can run with
// it: managed brokers refuse some settings. It is empty for settings that lethe requires. Whatever
// the settings, an erasure is never verified while its data still exists.
func (p Problem) Follows() string {
	switch p.Setting {
	case "segment.bytes", "segment.ms", "max.compaction.lag.ms", "min.cleanable.dirty.ratio":
		return "the brokers' cleaner begins later, and each erasure is verified as much later"
	case "delete.retention.ms":
		return "tombstones, with the keys of what is erased, stay for that long, and each erasure is verified as much later"
	case "file.delete.delay.ms":
		return "files of what is erased stay on the brokers' disks for that long after an erasure is verified"
	case "compression.type":
		return "the brokers' files cannot be searched for what was erased without unpacking them"
	case "message.timestamp.type":
		return "a producer whose clock is ahead holds up erasures until that time has come"
	case "min.insync.replicas":
		return "a write may be acknowledged by one broker, and lost with it"
	case settingHidden:
		return "nobody knows whether they are as lethe needs them (lethe topics acls prints the right; lethe topics check, " +
			"by somebody who has it, compares them)"
	default:
		return ""
	}
}

// ByHand reports whether Apply leaves the setting to operators, and lethe can run with
// it.
func (p Problem) ByHand() bool { return p.Setting == settingReplication }

// surplus reports that a topic has more partitions than it may have: lethe does not run with it,
// and Kafka cannot remove partitions.
func (p Problem) surplus() bool {
	have, err1 := strconv.Atoi(p.Have)
	want, err2 := strconv.Atoi(p.Want)
	return p.Setting == settingPartitions && errors.Join(err1, err2) == nil && have > want
}

const (
	settingTopic      = "topic"
	settingPartitions = "partitions"
	// settingHidden is reported in place of all settings of a topic that this principal
	// may not read.
	settingHidden = "settings"
	// settingReplication is the replication factor, which brokers change by moving data.
	settingReplication = "replication"
)

// Check compares every topic with its required configuration and lists the differences, in the order of Topics. Busy
// topics may have more partitions than configured; other topics may not, because the order of their records matters.
func (a Admin) Check(ctx context.Context) ([]Problem, error) {
	states, all, err := a.states(ctx)
	if err != nil {
		return nil, fmt.Errorf("check topics: %w", err)
	}
	cfg := a.wanted(all)
	replication := cfg.replication(all.brokers)
	var problems []Problem
	var present []Topic
	for _, t := range Topics() {
		want := specOf(t, &cfg).partitions
		have := states[t].partitions
		switch {
		case have == 0:
			problems = append(problems, Problem{t, settingTopic, "missing", "present"})
			continue
		case have < want, have > want && !busy(t):
			problems = append(problems, Problem{t, settingPartitions, fmt.Sprint(have), fmt.Sprint(want)})
		}
		if have := states[t].replicas; have < replication {
			problems = append(problems, Problem{t, settingReplication, fmt.Sprint(have), fmt.Sprint(replication)})
		}
		present = append(present, t)
	}
	settings, err := a.settings(ctx, present)
	if err != nil {
		return nil, fmt.Errorf("check topics: %w", a.client.explain(ctx, err))
	}
	for _, t := range present {
		if settings[t] == nil {
			problems = append(problems, Problem{t, settingHidden, "hidden", "readable (DescribeConfigs)"})
		}
		for _, s := range append(specOf(t, &cfg).settings, minInSync(states[t].replicas)) {
			// A setting that the broker does not list does not exist there; the
			// embedded broker compacts regardless of the share of garbage.
			if have, ok := settings[t][s.name]; ok && !s.holds(have) {
				problems = append(problems, Problem{t, s.name, have, s.value})
			}
		}
	}
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return slices.Index(Topics(), a.Topic) - slices.Index(Topics(), b.Topic)
	})
	return problems, nil
}

// topicOf is the topic with a full name.
func (a Admin) topicOf(name string) Topic {
	return Topic(strings.TrimPrefix(name, a.client.cfg.TopicPrefix))
}

// Partitions queries a broker, bypassing caches, for the number of partitions of each
// topic; missing topics are left out.
func (a Admin) Partitions(ctx context.Context) (map[Topic]int, error) {
	states, _, err := a.states(ctx)
	if err != nil {
		return nil, err
	}
	out := make(map[Topic]int)
	for t, s := range states {
		if s.partitions > 0 {
			out[t] = s.partitions
		}
	}
	return out, nil
}

// Identities returns topic ids by full name: the id changes when a topic is deleted and
// created again. Missing topics are left out. Brokers before Kafka 2.8 have no topic ids.
func (a Admin) Identities(ctx context.Context) (map[string]string, error) {
	states, _, err := a.states(ctx)
	if err != nil {
		return nil, err
	}
	out := make(map[string]string)
	for t, s := range states {
		if s.partitions > 0 && s.id != [16]byte{} {
			out[a.client.Name(t)] = hex.EncodeToString(s.id[:])
		}
	}
	return out, nil
}

// wanted is the configuration for topics of a cluster. The embedded broker retains erasure requests
// until they are purged, whatever the setting: expiry could empty a partition there.
func (a Admin) wanted(all cluster) Config {
	cfg := a.client.cfg
	if all.embedded {
		cfg.ErasureRetention = Forever
	}
	return cfg
}

// states queries every topic and the cluster; a topic that is hidden from this principal is an
// error.
func (a Admin) states(ctx context.Context) (states map[Topic]topicState, all cluster, err error) {
	states, all, err = a.client.topicStates(ctx, Topics()...)
	if err != nil {
		return nil, cluster{}, err
	}
	for _, t := range Topics() {
		if err := states[t].err; err != nil {
			return nil, cluster{}, err
		}
	}
	return states, all, nil
}

// settings reads the topic settings that lethe checks.
func (a Admin) settings(ctx context.Context, topics []Topic) (map[Topic]map[string]string, error) {
	found := map[Topic]map[string]string{}
	if len(topics) == 0 {
		return found, nil
	}
	var names []string
	for _, s := range append(specOf(Transactions, &a.client.cfg).settings, minInSync(1)) {
		names = append(names, s.name)
	}
	request := &kafka.DescribeConfigsRequest{}
	for _, t := range topics {
		request.Resources = append(request.Resources, kafka.DescribeConfigRequestResource{
			ResourceType: kafka.ResourceTypeTopic, ResourceName: a.client.Name(t), ConfigNames: names,
		})
	}
	response, err := a.client.kafka.DescribeConfigs(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("describe topic settings: %w", err)
	}
	for _, resource := range response.Resources {
		t := a.topicOf(resource.ResourceName)
		if resource.Error != nil {
			if errors.Is(denied("", resource.Error), ErrDenied) {
				found[t] = nil // Check reports it
				continue
			}
			return nil, fmt.Errorf("describe settings of %s: %w", resource.ResourceName, resource.Error)
		}
		found[t] = map[string]string{}
		for _, entry := range resource.ConfigEntries {
			found[t][entry.ConfigName] = entry.ConfigValue
		}
	}
	return found, nil
}

// Unreachable connects to each broker of the cluster at its advertised address, which is used for
// reading and writing. It returns an error for each that does not respond, and the number of
// brokers.
func (a Admin) Unreachable(ctx context.Context) (away []error, brokers int) {
	ask := func(ctx context.Context, address string) (*kmsg.MetadataResponse, error) {
		return askBroker(ctx, &a.client.cfg, address, []string{})
	}
	metadata, causes := seeds.First(ctx, a.client.cfg.Brokers, ask, func(*kmsg.MetadataResponse) {})
	if causes != nil {
		return []error{unreachable(causes)}, 1
	}
	ctx, cancel := context.WithTimeout(ctx, a.client.cfg.DialTimeout)
	defer cancel()
	failed := make([]error, len(metadata.Brokers))
	var all sync.WaitGroup
	for i, b := range metadata.Brokers {
		all.Go(func() {
			address := net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port)))
			if _, err := askBroker(ctx, &a.client.cfg, address, []string{}); err != nil {
				failed[i] = fmt.Errorf("broker %d advertises %s, and does not answer there: %w", b.NodeID, address, err)
			}
		})
	}
	all.Wait()
	return slices.DeleteFunc(failed, func(err error) bool { return err == nil }), len(failed)
}

// Delete deletes topics and all of their records, permanently. Missing topics are no error.
func (a Admin) Delete(ctx context.Context, topics ...Topic) error {
	request := &kafka.DeleteTopicsRequest{}
	for _, t := range topics {
		request.Topics = append(request.Topics, a.client.Name(t))
	}
	response, err := a.client.kafka.DeleteTopics(ctx, request)
	if err != nil {
		return fmt.Errorf("delete topics: %w", a.client.explain(ctx, err))
	}
	for _, name := range request.Topics {
		if err := response.Errors[name]; err != nil && !errors.Is(err, kafka.UnknownTopicOrPartition) {
			return denied("delete topic "+name, fmt.Errorf("delete topic %s: %w", name, err))
		}
	}
	return nil
}
