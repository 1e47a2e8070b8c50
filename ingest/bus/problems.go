package bus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/segmentio/kafka-go"
)

// Problem is one way in which a topic differs from what lethe needs.
type Problem struct {
	Topic Topic
	// Setting is "topic" if the topic is missing, "partitions", or the name of
	// a broker's topic setting.
	Setting    string
	Have, Want string
}

// String returns one line for an operator.
func (p Problem) String() string {
	return fmt.Sprintf("%s: %s is %s, want %s", p.Topic, p.Setting, p.Have, p.Want)
}

const (
	settingTopic      = "topic"
	settingPartitions = "partitions"
)

// Check compares every topic with what lethe needs and lists the differences,
// in the order of Topics. More partitions than wanted are no problem.
func (c *Client) Check(ctx context.Context) ([]Problem, error) {
	counts, err := c.partitionCounts(ctx)
	if err != nil {
		return nil, fmt.Errorf("check topics: %w", c.explain(ctx, err))
	}
	var problems []Problem
	var present []Topic
	for _, t := range Topics() {
		want := specOf(t, &c.cfg).partitions
		have, ok := counts[c.Name(t)]
		switch {
		case !ok:
			problems = append(problems, Problem{t, settingTopic, "missing", "present"})
			continue
		case have < want:
			problems = append(problems, Problem{t, settingPartitions, fmt.Sprint(have), fmt.Sprint(want)})
		}
		present = append(present, t)
	}
	settings, err := c.settings(ctx, present)
	if err != nil {
		return nil, fmt.Errorf("check topics: %w", c.explain(ctx, err))
	}
	for _, t := range present {
		for _, s := range specOf(t, &c.cfg).settings {
			// A broker that does not list a setting does not have it; the
			// embedded broker compacts without asking for a share of garbage.
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

// partitionCounts asks a broker, past any cache, for every topic's partitions.
func (c *Client) partitionCounts(ctx context.Context) (map[string]int, error) {
	dialer := newDialer(&c.cfg)
	var causes []error
	for _, address := range c.cfg.Brokers {
		counts, err := countPartitions(ctx, dialer, address)
		if err == nil {
			return counts, nil
		}
		causes = append(causes, fmt.Errorf("broker %s: %w", address, err))
	}
	return nil, fmt.Errorf("%w: %w", ErrBrokerUnreachable, errors.Join(causes...))
}

func countPartitions(ctx context.Context, dialer *kafka.Dialer, address string) (map[string]int, error) {
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	partitions, err := conn.ReadPartitions()
	if err = errors.Join(err, conn.Close()); err != nil {
		return nil, errors.Join(ctx.Err(), err)
	}
	counts := map[string]int{}
	for _, p := range partitions {
		counts[p.Topic]++
	}
	return counts, nil
}

// settings reads the topic settings that lethe cares about.
func (c *Client) settings(ctx context.Context, topics []Topic) (map[Topic]map[string]string, error) {
	found := map[Topic]map[string]string{}
	if len(topics) == 0 {
		return found, nil
	}
	var names []string
	for _, s := range specOf(Transactions, &c.cfg).settings {
		names = append(names, s.name)
	}
	request := &kafka.DescribeConfigsRequest{}
	for _, t := range topics {
		request.Resources = append(request.Resources, kafka.DescribeConfigRequestResource{
			ResourceType: kafka.ResourceTypeTopic, ResourceName: c.Name(t), ConfigNames: names,
		})
	}
	response, err := c.kafka.DescribeConfigs(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("describe topic settings: %w", err)
	}
	for _, resource := range response.Resources {
		t := Topic(strings.TrimPrefix(resource.ResourceName, c.cfg.TopicPrefix))
		if resource.Error != nil {
			return nil, fmt.Errorf("describe settings of %s: %w", t, resource.Error)
		}
		found[t] = map[string]string{}
		for _, entry := range resource.ConfigEntries {
			found[t][entry.ConfigName] = entry.ConfigValue
		}
	}
	return found, nil
}
