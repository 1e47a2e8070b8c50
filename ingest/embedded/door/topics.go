package door

import (
	"regexp"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// maxPartitions bounds the partitions of one topic, maxCreated those that clients create
	// between two starts.
	maxPartitions = 1000
	maxCreated    = 20_000
)

// topicName matches the names that Kafka accepts.
var topicName = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,249}$`)

// createTopics removes topics that must not be created from a request, and puts their errors into the
// response.
func (l *Listener) createTopics(m *kmsg.CreateTopicsRequest) (edit func(kmsg.Response), changed bool) {
	var refused []kmsg.CreateTopicsResponseTopic
	kept := m.Topics[:0:0]
	for _, t := range m.Topics {
		// The default number of partitions is small.
		partitions := max(int64(t.NumPartitions), int64(len(t.ReplicaAssignment)), 1)
		var cause *kerr.Error
		switch {
		case !topicName.MatchString(t.Topic) || t.Topic == "." || t.Topic == "..":
			cause = kerr.InvalidTopicException
		case partitions > maxPartitions:
			cause = kerr.InvalidPartitions
		case l.created.Load()+partitions > maxCreated:
			cause = kerr.PolicyViolation
		default:
			kept = append(kept, t)
			continue
		}
		answer := kmsg.NewCreateTopicsResponseTopic()
		answer.Topic, answer.ErrorCode = t.Topic, cause.Code
		refused = append(refused, answer)
		l.warn.log("topic refused", "error", cause.Message)
	}
	changed = len(refused) > 0
	m.Topics = kept
	asked := map[string]int64{}
	for _, t := range kept {
		asked[t.Topic] = max(int64(t.NumPartitions), int64(len(t.ReplicaAssignment)), 1)
	}
	return func(response kmsg.Response) {
		r := response.(*kmsg.CreateTopicsResponse)
		for _, t := range r.Topics {
			if t.ErrorCode == 0 {
				l.created.Add(asked[t.Topic])
			}
		}
		r.Topics = append(r.Topics, refused...)
	}, changed
}

// createPartitions removes topics that would have too many partitions from a request.
func (l *Listener) createPartitions(m *kmsg.CreatePartitionsRequest) (edit func(kmsg.Response), changed bool) {
	var refused []kmsg.CreatePartitionsResponseTopic
	kept := m.Topics[:0:0]
	for _, t := range m.Topics {
		if t.Count <= maxPartitions && l.created.Load()+int64(t.Count) <= maxCreated {
			kept = append(kept, t)
			continue
		}
		answer := kmsg.NewCreatePartitionsResponseTopic()
		answer.Topic, answer.ErrorCode = t.Topic, kerr.InvalidPartitions.Code
		refused = append(refused, answer)
		l.warn.log("partitions refused", "error", kerr.InvalidPartitions.Message)
	}
	if len(refused) == 0 {
		return nil, false
	}
	m.Topics = kept
	return func(response kmsg.Response) {
		r := response.(*kmsg.CreatePartitionsResponse)
		r.Topics = append(r.Topics, refused...)
	}, true
}

// deleteTopics removes lethe's own topics from a request.
func (l *Listener) deleteTopics(m *kmsg.DeleteTopicsRequest) (edit func(kmsg.Response), changed bool) {
	if l.o.DeleteTopics {
		return nil, false
	}
	var refused []kmsg.DeleteTopicsResponseTopic
	kept := m.TopicNames[:0:0]
	for _, name := range m.TopicNames {
		if !l.o.OwnTopic(name) {
			kept = append(kept, name)
			continue
		}
		answer := kmsg.NewDeleteTopicsResponseTopic()
		answer.Topic, answer.ErrorCode = &name, kerr.TopicDeletionDisabled.Code
		refused = append(refused, answer)
		l.warn.log("deletion refused", "topic", name)
	}
	if len(refused) == 0 {
		return nil, false
	}
	m.TopicNames = kept
	return func(response kmsg.Response) {
		r := response.(*kmsg.DeleteTopicsResponse)
		r.Topics = append(r.Topics, refused...)
	}, true
}
