package door

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lethe/ingest/bus/protocol"
)

// judge decides what becomes of a well-formed request.
func judge(request kmsg.Request, correlation int32, o *Options) (checked, error) {
	switch r := request.(type) {
	case *kmsg.ProduceRequest:
		if o.AnyBatch {
			return checked{hasResponse: r.Acks != 0}, nil
		}
		return judgeProduce(r, correlation)
	case *kmsg.CreateTopicsRequest:
		return judgeTopics(r, correlation, o.MaxPartitions), nil
	case *kmsg.CreatePartitionsRequest:
		return judgePartitions(r, correlation, o.MaxPartitions), nil
	default:
		return checked{hasResponse: true}, nil
	}
}

// judgeProduce refuses batches that no reader could read. The other batches of the request are not stored either: their
// producer sends them again.
func judgeProduce(r *kmsg.ProduceRequest, correlation int32) (checked, error) {
	var reason error
	response := r.ResponseKind().(*kmsg.ProduceResponse)
	for _, topic := range r.Topics {
		answer := kmsg.NewProduceResponseTopic()
		answer.Topic, answer.TopicID = topic.Topic, topic.TopicID
		for _, p := range topic.Partitions {
			part := kmsg.NewProduceResponseTopicPartition()
			part.Partition, part.ErrorCode = p.Partition, kerr.RequestTimedOut.Code
			if code, err := judgeBatches(p.Records); err != nil {
				text := err.Error()
				part.ErrorCode, part.ErrorMessage, reason = code, &text, err
			}
			answer.Partitions = append(answer.Partitions, part)
		}
		response.Topics = append(response.Topics, answer)
	}
	switch {
	case reason == nil:
		return checked{hasResponse: r.Acks != 0}, nil
	case r.Acks == 0:
		return checked{}, fmt.Errorf("a batch is refused: %w", reason)
	}
	return refuse(response, correlation, "a batch: "+reason.Error()), nil
}

// judgeBatches returns the code and the reason for which batches are refused. A request without batches is the broker's
// to answer.
func judgeBatches(raw []byte) (code int16, err error) {
	whole, err := protocol.CheckBatches(raw)
	switch {
	case errors.Is(err, protocol.ErrInflated):
		return kerr.MessageTooLarge.Code, err
	case err == nil && whole < len(raw):
		err = fmt.Errorf("%d bytes behind the last whole batch", len(raw)-whole)
	}
	return kerr.InvalidRecord.Code, err
}

func judgeTopics(r *kmsg.CreateTopicsRequest, correlation, most int32) checked {
	response, refused := r.ResponseKind().(*kmsg.CreateTopicsResponse), false
	for _, topic := range r.Topics {
		answer := kmsg.NewCreateTopicsResponseTopic()
		answer.Topic, answer.ErrorCode = topic.Topic, kerr.RequestTimedOut.Code
		if topic.NumPartitions > most || len(topic.ReplicaAssignment) > int(most) {
			answer.ErrorCode, answer.ErrorMessage, refused = kerr.InvalidPartitions.Code, tooMany(most), true
		}
		response.Topics = append(response.Topics, answer)
	}
	if !refused {
		return checked{hasResponse: true}
	}
	return refuse(response, correlation, *tooMany(most))
}

func judgePartitions(r *kmsg.CreatePartitionsRequest, correlation, most int32) checked {
	response, refused := r.ResponseKind().(*kmsg.CreatePartitionsResponse), false
	for _, topic := range r.Topics {
		answer := kmsg.NewCreatePartitionsResponseTopic()
		answer.Topic, answer.ErrorCode = topic.Topic, kerr.RequestTimedOut.Code
		if topic.Count > most {
			answer.ErrorCode, answer.ErrorMessage, refused = kerr.InvalidPartitions.Code, tooMany(most), true
		}
		response.Topics = append(response.Topics, answer)
	}
	if !refused {
		return checked{hasResponse: true}
	}
	return refuse(response, correlation, *tooMany(most))
}

func tooMany(most int32) *string {
	text := fmt.Sprintf("a topic of the embedded broker has at most %d partitions", most)
	return &text
}

// refuseVersions answers a client that asks for the broker's versions in one that the broker does not speak: it asks
// again in version 0 (KIP-511).
func refuseVersions(correlation int32) checked {
	response := kmsg.NewPtrApiVersionsResponse()
	response.ErrorCode = kerr.UnsupportedVersion.Code
	return refuse(response, correlation, "")
}

// refuse encodes a response in a version without tagged fields.
func refuse(response kmsg.Response, correlation int32, reason string) checked {
	out := make([]byte, 4, 256)
	out = binary.BigEndian.AppendUint32(out, uint32(correlation))
	out = response.AppendTo(out)
	binary.BigEndian.PutUint32(out, uint32(len(out)-4))
	return checked{answer: out, reason: reason}
}
