package bus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lethe/ingest/bus/protocol"
	"lethe/ingest/bus/secure"
	"lethe/ingest/bus/seeds"
)

// topicState is a broker's information about a topic.
type topicState struct {
	// partitions is 0 if the topic does not exist.
	partitions int
	// replicas is the smallest number of replicas of any partition.
	replicas int
	// operations has a bit for each kafka.ACLOperationType that this principal may do;
	// it is unknownOperations if the broker does not report them.
	operations int32
	// id changes when a topic is deleted and created again; zero if the broker does not
	// report it.
	id [16]byte
	// err is ErrDenied if the principal may not describe the topic.
	err error
}

const unknownOperations = math.MinInt32

// may reports whether the principal may do something with the topic. It is true if that
// is unknown.
func (s topicState) may(what kafka.ACLOperationType) bool {
	return s.operations == unknownOperations || s.operations&(1<<what) != 0
}

// cluster is a broker's information about all brokers.
type cluster struct {
	brokers int
	// embedded means that it is lethe's own broker.
	embedded bool
}

// topicStates queries a broker, bypassing caches, for topics by name: a query for all
// topics would leave out those that are hidden from this principal. It creates no topics.
func (c *Client) topicStates(
	ctx context.Context, topics ...Topic,
) (states map[Topic]topicState, all cluster, err error) {
	names := make([]string, len(topics))
	for i, t := range topics {
		names[i] = c.Name(t)
	}
	type answer struct {
		from     string
		metadata *kmsg.MetadataResponse
	}
	ask := func(ctx context.Context, address string) (answer, error) {
		metadata, err := askBroker(ctx, &c.cfg, address, names)
		return answer{address, metadata}, err
	}
	first, causes := seeds.First(ctx, c.cfg.Brokers, ask, func(answer) {})
	switch {
	case causes == nil:
		states, err = readStates(topics, names, first.from, first.metadata)
		return states, cluster{len(first.metadata.Brokers), value(first.metadata.ClusterID) == EmbeddedClusterID}, err
	case ctx.Err() != nil:
		return nil, cluster{}, errors.Join(ctx.Err(), errors.Join(causes...))
	}
	return nil, cluster{}, unreachable(causes)
}

func readStates(
	topics []Topic, names []string, address string, answer *kmsg.MetadataResponse,
) (map[Topic]topicState, error) {
	states := make(map[Topic]topicState)
	for _, topic := range answer.Topics {
		at := slices.Index(names, value(topic.Topic))
		if at < 0 {
			continue
		}
		s := topicState{operations: topic.AuthorizedOperations, id: topic.TopicID}
		switch code := kafka.Error(topic.ErrorCode); code {
		case 0, kafka.LeaderNotAvailable:
			s.partitions, s.replicas = len(topic.Partitions), math.MaxInt
			for _, p := range topic.Partitions {
				s.replicas = min(s.replicas, len(p.Replicas))
			}
		case kafka.UnknownTopicOrPartition:
		case kafka.TopicAuthorizationFailed:
			s.err = denied(fmt.Sprintf("broker %s: topic %s", address, names[at]), code)
		default:
			return nil, fmt.Errorf("%s: %w", names[at], code)
		}
		states[topics[at]] = s
	}
	return states, nil
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// askBroker queries one broker over a separate connection for the named topics, and for
// the brokers. Unlike the transport it returns the cause of a failure.
func askBroker(ctx context.Context, cfg *Config, address string, names []string) (*kmsg.MetadataResponse, error) {
	dialer := newDialer(cfg)
	ctx, cancel := context.WithTimeout(ctx, cfg.DialTimeout)
	defer cancel()
	conn, err := dialer.DialContext(ctx, "tcp", address)
	switch {
	case errors.Is(err, ErrRefused):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("broker %s: %w", address, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	answer, err := askTopics(conn, cfg.ClientID, names)
	if closed := conn.Close(); err == nil && !errors.Is(closed, net.ErrClosed) {
		err = closed
	}
	switch {
	case err == nil:
		return answer, nil
	case ctx.Err() != nil:
		err = ctx.Err()
	case !cfg.TLS.Enabled && secure.SpeaksTLS(ctx, address):
		return nil, &secure.RefusedError{
			Address: address, Setting: "kafka.tls.enabled", Err: errors.New("it wants TLS on this port"),
		}
	case cfg.SASL.Mechanism == "" && dialer.WantsSASL(ctx, address):
		return nil, &secure.RefusedError{
			Address: address, Setting: "kafka.sasl.mechanism", Err: errors.New("it wants SASL on this port"),
		}
	}
	return nil, fmt.Errorf("broker %s: %w", address, err)
}

func askTopics(conn io.ReadWriter, clientID string, names []string) (*kmsg.MetadataResponse, error) {
	const limitBytes = 64 << 20
	request := kmsg.NewPtrMetadataRequest()
	newest, err := newestVersion(conn, clientID, request)
	if err != nil {
		return nil, err
	}
	request.Version = 8 // Kafka 2.3
	if newest >= 10 {
		request.Version = 10 // Kafka 2.8 returns the ids of topics
	}
	request.AllowAutoTopicCreation, request.IncludeTopicAuthorizedOperations = false, true
	request.Topics = []kmsg.MetadataRequestTopic{}
	for _, name := range names {
		topic := kmsg.NewMetadataRequestTopic()
		topic.Topic = &name
		request.Topics = append(request.Topics, topic)
	}
	answer, err := protocol.Exchange(conn, clientID, request, limitBytes)
	if err != nil {
		return nil, err
	}
	return answer.(*kmsg.MetadataResponse), nil
}

// newestVersion returns the newest version of a request that a broker supports.
func newestVersion(conn io.ReadWriter, clientID string, of kmsg.Request) (int16, error) {
	const limitBytes = 1 << 20
	answer, err := protocol.Exchange(conn, clientID, kmsg.NewPtrApiVersionsRequest(), limitBytes)
	if err != nil {
		return 0, err
	}
	for _, known := range answer.(*kmsg.ApiVersionsResponse).ApiKeys {
		if known.ApiKey == of.Key() {
			return known.MaxVersion, nil
		}
	}
	return 0, nil
}

// The settings of a broker that bound Config.SessionTimeout.
const (
	shortestSession = "group.min.session.timeout.ms"
	longestSession  = "group.max.session.timeout.ms"
)

// refusedSession returns the error that brokers do not accept the session timeout of a consumer
// group, with the range that they accept, if the principal may read it.
func refusedSession(ctx context.Context, c *Client, cause error) error {
	bounds := fmt.Sprintf("%s to %s", shortestSession, longestSession)
	if low, high, err := sessionBounds(ctx, c); err == nil {
		bounds = fmt.Sprintf("%s ms (%s) to %s ms (%s)", low, shortestSession, high, longestSession)
	}
	return fmt.Errorf("%w: kafka.session_timeout is %s, and brokers take %s: %w", ErrSession, c.cfg.SessionTimeout, bounds,
		cause)
}

// sessionBounds reads the range that one broker accepts.
func sessionBounds(ctx context.Context, c *Client) (low, high string, err error) {
	known, err := c.kafka.Metadata(ctx, &kafka.MetadataRequest{})
	if err != nil {
		return "", "", err
	}
	if len(known.Brokers) == 0 {
		return "", "", ErrBrokerUnreachable
	}
	values, err := brokerSettings(ctx, c, known.Brokers[0].ID, shortestSession, longestSession)
	if err != nil {
		return "", "", err
	}
	if low, high = values[shortestSession], values[longestSession]; low == "" || high == "" {
		err = fmt.Errorf("the broker does not tell %s", shortestSession)
	}
	return low, high, err
}
