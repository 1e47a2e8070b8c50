package bus

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/segmentio/kafka-go"
)

// Apply creates the topics that are missing, adds the partitions that are
// missing and corrects the settings that differ. It removes nothing: a topic
// with more partitions keeps them. Adding partitions moves keys to other
// partitions, so it is done before there is data only: once any topic holds a
// record, the error is ErrHoldsRecords, and nothing is changed. It waits until the
// brokers show the topics. Once all else is mended, the error is ErrSurplus for topics with partitions too many.
func (a Admin) Apply(ctx context.Context) error {
	problems, err := a.Check(ctx)
	if err != nil {
		return err
	}
	if rest := mendable(problems); len(rest) > 0 {
		if err := a.mend(ctx, rest); err != nil {
			return err
		}
	}
	return a.refuseSurplus(problems)
}

// refuseSurplus is the error of topics that have more partitions than they may have.
func (a Admin) refuseSurplus(problems []Problem) error {
	var have []string
	for _, p := range problems {
		if p.surplus() {
			have = append(have, fmt.Sprintf("%s has %s partitions, want %s", a.client.Name(p.Topic), p.Have, p.Want))
		}
	}
	if len(have) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s (%s)", ErrSurplus, strings.Join(have, "; "), surplusRemedy)
}

// surplusRemedy is what operators do about it.
const surplusRemedy = "delete it if it holds nothing that is needed, with auto.create.topics.enable=false, and lethe " +
	"topics apply creates it; or begin anew with another kafka.topic_prefix and empty data directories"

// mend changes what is not as lethe needs it.
func (a Admin) mend(ctx context.Context, problems []Problem) error {
	_, all, err := a.states(ctx)
	if err != nil {
		return err
	}
	create, grow, correct := a.plan(problems, all)
	if len(grow) > 0 {
		if err := a.refuseGrowth(ctx, problems); err != nil {
			return err
		}
	}
	err = errors.Join(a.createTopics(ctx, create), a.growTopics(ctx, grow), a.correctSettings(ctx, correct))
	if err != nil {
		return fmt.Errorf("apply topics: %w", a.client.explain(ctx, err))
	}
	return a.awaitTopics(ctx)
}

// mendable leaves out what Apply cannot mend: how many brokers keep a topic is changed by moving its data, and
// partitions go with the topic alone, which are the operators' to do.
func mendable(problems []Problem) []Problem {
	return slices.DeleteFunc(slices.Clone(problems), func(p Problem) bool { return p.ByHand() || p.surplus() })
}

// refuseGrowth is the error of adding partitions if any topic holds, or held,
// records.
func (a Admin) refuseGrowth(ctx context.Context, problems []Problem) error {
	var missing []Topic
	var grow []string
	for _, p := range problems {
		switch p.Setting {
		case settingTopic:
			missing = append(missing, p.Topic)
		case settingPartitions:
			grow = append(grow, fmt.Sprintf("%s has %s partitions, want %s", p.Topic, p.Have, p.Want))
		}
	}
	for _, t := range Topics() {
		if slices.Contains(missing, t) {
			continue
		}
		ends, err := a.client.EndOffsets(ctx, t)
		if err != nil {
			return fmt.Errorf("apply topics: %w", err)
		}
		if slices.Max(ends) > 0 {
			return fmt.Errorf("%w: %s; %s holds records (set kafka.partitions to what there is, or begin anew "+
				"with another kafka.topic_prefix and empty data directories)", ErrHoldsRecords, strings.Join(grow, "; "), t)
		}
	}
	return nil
}

// plan turns problems into requests.
func (a Admin) plan(
	problems []Problem, all cluster,
) ([]kafka.TopicConfig, []kafka.TopicPartitionsConfig, map[Topic][]Problem) {
	var create []kafka.TopicConfig
	var grow []kafka.TopicPartitionsConfig
	correct := map[Topic][]Problem{}
	cfg := a.wanted(all)
	replication := cfg.replication(all.brokers)
	for _, p := range problems {
		wanted := specOf(p.Topic, &cfg)
		switch p.Setting {
		case settingTopic:
			topic := kafka.TopicConfig{
				Topic:             a.client.Name(p.Topic),
				NumPartitions:     wanted.partitions,
				ReplicationFactor: replication,
			}
			for _, s := range append(wanted.settings, minInSync(replication)) {
				topic.ConfigEntries = append(topic.ConfigEntries, kafka.ConfigEntry{ConfigName: s.name, ConfigValue: s.value})
			}
			create = append(create, topic)
		case settingPartitions:
			grow = append(grow, kafka.TopicPartitionsConfig{Name: a.client.Name(p.Topic), Count: int32(wanted.partitions)})
		default:
			correct[p.Topic] = append(correct[p.Topic], p)
		}
	}
	return create, grow, correct
}

func (a Admin) createTopics(ctx context.Context, topics []kafka.TopicConfig) error {
	if len(topics) == 0 {
		return nil
	}
	response, err := a.client.kafka.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: topics})
	if err != nil {
		return fmt.Errorf("create topics: %w", err)
	}
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(response.Errors)) {
		// Another process may have created it since Check.
		if err := response.Errors[name]; err != nil && !errors.Is(err, kafka.TopicAlreadyExists) {
			problems = append(problems, denied("create topic "+name, fmt.Errorf("create topic %s: %w", name, err)))
		}
	}
	return errors.Join(problems...)
}

func (a Admin) growTopics(ctx context.Context, topics []kafka.TopicPartitionsConfig) error {
	if len(topics) == 0 {
		return nil
	}
	response, err := a.client.kafka.CreatePartitions(ctx, &kafka.CreatePartitionsRequest{Topics: topics})
	if err != nil {
		return fmt.Errorf("add partitions: %w", err)
	}
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(response.Errors)) {
		if err := response.Errors[name]; err != nil {
			problems = append(problems, denied("add partitions to "+name, fmt.Errorf("add partitions to %s: %w", name, err)))
		}
	}
	return errors.Join(problems...)
}

func (a Admin) correctSettings(ctx context.Context, wrong map[Topic][]Problem) error {
	if len(wrong) == 0 {
		return nil
	}
	request := &kafka.IncrementalAlterConfigsRequest{}
	for _, t := range Topics() {
		resource := kafka.IncrementalAlterConfigsRequestResource{
			ResourceType: kafka.ResourceTypeTopic, ResourceName: a.client.Name(t),
		}
		for _, p := range wrong[t] {
			resource.Configs = append(resource.Configs, kafka.IncrementalAlterConfigsRequestConfig{
				Name: p.Setting, Value: p.Want, ConfigOperation: kafka.ConfigOperationSet,
			})
		}
		if len(resource.Configs) > 0 {
			request.Resources = append(request.Resources, resource)
		}
	}
	response, err := a.client.kafka.IncrementalAlterConfigs(ctx, request)
	if err != nil {
		return fmt.Errorf("correct settings: %w", err)
	}
	var problems []error
	for _, resource := range response.Resources {
		if resource.Error != nil {
			problems = append(problems, denied("correct settings of "+resource.ResourceName,
				fmt.Errorf("correct settings of %s: %w", resource.ResourceName, resource.Error)))
		}
	}
	return errors.Join(problems...)
}

// awaitTopics waits until the brokers show what was created: they learn of it
// one after the other.
func (a Admin) awaitTopics(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, a.client.cfg.RequestTimeout)
	defer cancel()
	for attempt := 0; ; attempt++ {
		problems, err := a.Check(ctx)
		if err != nil {
			return err
		}
		if problems = mendable(problems); len(problems) == 0 {
			// The transport asked when the topics were made, maybe before brokers knew of them.
			a.client.link.forget()
			return nil
		}
		if err := pause(ctx, attempt); err != nil {
			return fmt.Errorf("topics are not as applied: %v and %d more: %w", problems[0], len(problems)-1, err)
		}
	}
}
