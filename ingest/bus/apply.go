package bus

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/segmentio/kafka-go"
)

// Apply creates missing topics, adds missing partitions and corrects settings that differ. It
// removes nothing: a topic with more partitions keeps them. Adding partitions moves keys to other
// partitions, so it is done only while there is no data: if any topic holds a record, the error is
// ErrHoldsRecords, and nothing is changed. Apply waits until the brokers show the topics. After all
// else is repaired, the error is ErrSurplus if topics have too many partitions. Settings that
// brokers refuse are no error if lethe can run without them: Check still lists them, and
// Problem.Follows describes the consequence of each. Refused settings that lethe requires are
// listed in the error, one per line.
func (a Admin) Apply(ctx context.Context) error {
	problems, err := a.Check(ctx)
	if err != nil {
		return err
	}
	if rest := mendable(problems); len(rest) > 0 {
		if err := (mender{a}).mend(ctx, rest); err != nil {
			return err
		}
	}
	return a.refuseSurplus(problems)
}

// mender changes topics for Apply.
type mender struct{ Admin }

// mend corrects the differences from the required configuration.
func (a mender) mend(ctx context.Context, problems []Problem) error {
	_, all, err := a.states(ctx)
	if err != nil {
		return err
	}
	create, grow, correct := a.requests(problems, all)
	if len(grow) > 0 {
		if err := a.refuseGrowth(ctx, problems); err != nil {
			return err
		}
	}
	unset, createErr := a.createTopics(ctx, create)
	if createErr != nil {
		unset = nil
	}
	growErr := a.growTopics(ctx, grow)
	refused, correctErr := a.correctSettings(ctx, append(correct, unset...))
	if err := errors.Join(createErr, growErr, correctErr); err != nil {
		return fmt.Errorf("apply topics: %w", a.client.explain(ctx, err))
	}
	return a.awaitTopics(ctx, refused)
}

// requests are those that make the changes that Plan shows; settings are corrected by problem.
func (a Admin) requests(
	problems []Problem, all cluster,
) (create []kafka.TopicConfig, grow []kafka.TopicPartitionsConfig, correct []Problem) {
	for _, p := range problems {
		switch c := a.change(p, all, false); c.Action {
		case actionCreate:
			topic := kafka.TopicConfig{Topic: c.Topic, NumPartitions: c.Partitions, ReplicationFactor: c.Replication}
			for _, name := range slices.Sorted(maps.Keys(c.Settings)) {
				entry := kafka.ConfigEntry{ConfigName: name, ConfigValue: c.Settings[name]}
				topic.ConfigEntries = append(topic.ConfigEntries, entry)
			}
			create = append(create, topic)
		case actionGrow:
			count, _ := strconv.Atoi(c.Want)
			grow = append(grow, kafka.TopicPartitionsConfig{Name: c.Topic, Count: int32(count)})
		default:
			correct = append(correct, p)
		}
	}
	return create, grow, correct
}

// createTopics creates topics. If brokers refuse the settings of one, it is created with only the
// settings that lethe requires, and the others are returned, to be set one by one.
func (a mender) createTopics(ctx context.Context, topics []kafka.TopicConfig) (unset []Problem, err error) {
	refused, err := a.create(ctx, topics, false)
	if err != nil {
		return nil, err
	}
	needed := slices.DeleteFunc(slices.Clone(topics), func(t kafka.TopicConfig) bool { return refused[t.Topic] == nil })
	for i, t := range needed {
		needed[i].ConfigEntries = nil
		for _, entry := range t.ConfigEntries {
			p := Problem{Topic: a.topicOf(t.Topic), Setting: entry.ConfigName, Want: entry.ConfigValue}
			if p.Follows() == "" {
				needed[i].ConfigEntries = append(needed[i].ConfigEntries, entry)
			} else {
				unset = append(unset, p)
			}
		}
	}
	refused, err = a.create(ctx, needed, false)
	if err != nil {
		return nil, err
	}
	var problems []error
	for _, t := range needed {
		if refused[t.Topic] != nil {
			problems = append(problems, a.explainRefusal(ctx, t, refused[t.Topic]))
		}
	}
	return unset, errors.Join(problems...)
}

// explainRefusal names each required setting of a topic that brokers refuse when it is
// requested alone.
func (a mender) explainRefusal(ctx context.Context, topic kafka.TopicConfig, cause error) error {
	var lines []error
	for _, entry := range topic.ConfigEntries {
		one := topic
		one.ConfigEntries = []kafka.ConfigEntry{entry}
		refused, err := a.create(ctx, []kafka.TopicConfig{one}, true)
		if err == nil && refused[topic.Topic] != nil {
			lines = append(lines, fmt.Errorf("create topic %s: the brokers refuse %s=%s, which lethe cannot run without: %w",
				topic.Topic, entry.ConfigName, entry.ConfigValue, refused[topic.Topic]))
		}
	}
	if len(lines) > 0 {
		return errors.Join(lines...)
	}
	return fmt.Errorf("create topic %s with %d partitions on %d brokers: %w (see kafka.partitions and "+
		"kafka.replication_factor)", topic.Topic, topic.NumPartitions, topic.ReplicationFactor, cause)
}

// create creates topics, or only validates the requests. It returns by name why the configuration
// of a topic is refused; other failures are errors.
func (a mender) create(
	ctx context.Context, topics []kafka.TopicConfig, only bool,
) (refused map[string]error, err error) {
	if len(topics) == 0 {
		return nil, nil
	}
	response, err := a.client.kafka.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: topics, ValidateOnly: only})
	if err != nil {
		return nil, fmt.Errorf("create topics: %w", err)
	}
	refused = make(map[string]error)
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(response.Errors)) {
		switch err := response.Errors[name]; {
		case err == nil, errors.Is(err, kafka.TopicAlreadyExists): // another process may have created it since Check
		case errors.Is(err, kafka.PolicyViolation), errors.Is(err, kafka.InvalidConfiguration),
			errors.Is(err, kafka.InvalidRequest):
			refused[name] = err
		default:
			problems = append(problems, denied("create topic "+name, fmt.Errorf("create topic %s: %w", name, err)))
		}
	}
	return refused, errors.Join(problems...)
}

func (a mender) growTopics(ctx context.Context, topics []kafka.TopicPartitionsConfig) error {
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

// correctSettings sets the settings that differ, and returns the refused ones that lethe can run
// without. The refusal of a required setting is an error. Brokers change all settings of a topic or
// none, so the settings of a refused topic are set one by one.
func (a mender) correctSettings(ctx context.Context, wrong []Problem) (refused []Problem, err error) {
	causes, err := a.alter(ctx, wrong)
	if err != nil {
		return nil, err
	}
	var problems []error
	again := slices.DeleteFunc(slices.Clone(wrong), func(p Problem) bool { return causes[p.Topic] == nil })
	for len(again) > 0 {
		name := again[0].Setting
		one := slices.DeleteFunc(slices.Clone(again), func(p Problem) bool { return p.Setting != name })
		again = slices.DeleteFunc(again, func(p Problem) bool { return p.Setting == name })
		if causes, err = a.alter(ctx, one); err != nil {
			return nil, err
		}
		for _, p := range one {
			switch cause := causes[p.Topic]; {
			case cause == nil:
			case p.Follows() != "":
				refused = append(refused, p)
			default:
				problems = append(problems, denied("correct settings of "+a.client.Name(p.Topic),
					fmt.Errorf("%s, and lethe cannot run without it: the brokers refuse the change: %w", p, cause)))
			}
		}
	}
	return refused, errors.Join(problems...)
}

// alter sets topics' settings. It returns by topic why brokers refuse them.
func (a mender) alter(ctx context.Context, wrong []Problem) (causes map[Topic]error, err error) {
	if len(wrong) == 0 {
		return nil, nil
	}
	request := &kafka.IncrementalAlterConfigsRequest{}
	causes = make(map[Topic]error)
	for _, t := range Topics() {
		resource := kafka.IncrementalAlterConfigsRequestResource{
			ResourceType: kafka.ResourceTypeTopic, ResourceName: a.client.Name(t),
		}
		for _, p := range wrong {
			if p.Topic == t {
				resource.Configs = append(resource.Configs, kafka.IncrementalAlterConfigsRequestConfig{
					Name: p.Setting, Value: p.Want, ConfigOperation: kafka.ConfigOperationSet,
				})
			}
		}
		if len(resource.Configs) > 0 {
			request.Resources = append(request.Resources, resource)
		}
	}
	response, err := a.client.kafka.IncrementalAlterConfigs(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("correct settings: %w", err)
	}
	for _, resource := range response.Resources {
		if resource.Error != nil && isTemporary(resource.Error) {
			return nil, fmt.Errorf("correct settings of %s: %w", resource.ResourceName, resource.Error)
		}
		causes[a.topicOf(resource.ResourceName)] = resource.Error
	}
	return causes, nil
}

// awaitTopics waits until the brokers show the topics that were created: they learn of a topic one
// after the other, and until then report it as unknown.
func (a mender) awaitTopics(ctx context.Context, refused []Problem) error {
	stays := func(p Problem) bool {
		return slices.ContainsFunc(refused, func(r Problem) bool { return r.Topic == p.Topic && r.Setting == p.Setting })
	}
	ctx, cancel := context.WithTimeout(ctx, a.client.cfg.RequestTimeout)
	defer cancel()
	for attempt := 0; ; attempt++ {
		problems, err := a.Check(ctx)
		if err != nil && !isTemporary(err) {
			return err
		}
		if problems = slices.DeleteFunc(mendable(problems), stays); err == nil && len(problems) == 0 {
			// The transport may have cached the topics before brokers knew of the new
			// ones.
			a.client.link.forget()
			return nil
		}
		if late := pause(ctx, attempt); late != nil {
			if err != nil {
				return fmt.Errorf("topics are not as applied: %w", err)
			}
			return fmt.Errorf("topics are not as applied: %v and %d more: %w", problems[0], len(problems)-1, late)
		}
	}
}
