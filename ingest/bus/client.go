package bus

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/segmentio/kafka-go"

	"lethe/ingest/bus/leaders"
	"lethe/ingest/bus/protocol"
)

// Client writes and reads the topics of one deployment; Admin maintains their
// configuration. It is safe for concurrent use.
type Client struct {
	cfg   Config
	link  *link
	kafka *kafka.Client
	// raw makes the requests that package kafka does not support.
	raw protocol.Client
	// leaders decides which broker to trust if several claim to lead a partition.
	leaders *leaders.Survey
	// watch, if not nil, makes the client patient.
	watch Watch
	// seal, if not nil, makes and checks the codes of sealed topics.
	seal atomic.Pointer[Seal]
	// met are the topics on which a request has succeeded.
	met met

	mu         sync.Mutex
	partitions map[Topic]int // as last seen by a write
}

// brokerPatience bounds the delay by one broker of a request to all brokers.
const brokerPatience = time.Second

// Open checks the configuration, which must name a broker. It does not connect: call Ping
// to check whether the brokers respond.
func Open(cfg Config) (*Client, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("bus: %w", err)
	}
	if len(cfg.Brokers) == 0 {
		return nil, errors.New("bus: no broker is named")
	}
	cfg = cfg.Clone()
	l := newLink(&cfg)
	raw := protocol.Client{Transport: l.transport, Address: l.address, ClientID: cfg.ClientID}
	return &Client{
		cfg: cfg, link: l, partitions: map[Topic]int{}, raw: raw,
		kafka:   &kafka.Client{Addr: l.address, Transport: l.transport, Timeout: cfg.RequestTimeout},
		leaders: leaders.NewSurvey(raw.LeaderEpochs, brokerPatience, cfg.RequestTimeout),
	}, nil
}

// Close closes the client's connections. Tails have their own and must be closed
// separately.
func (c *Client) Close() error {
	c.link.cut()
	return nil
}

// Name returns the topic's full name.
func (c *Client) Name(t Topic) string { return c.cfg.Name(t) }

// Ping reports whether a configured broker can be reached, speaks Kafka and accepts
// lethe's credentials. The error is ErrRefused if one refuses, which an operator must fix,
// or else ErrBrokerUnreachable with the cause for each address. It takes at most the dial
// timeout.
func (c *Client) Ping(ctx context.Context) error {
	asking, cancel := context.WithTimeout(ctx, c.cfg.DialTimeout)
	defer cancel()
	causes := make([]error, len(c.cfg.Brokers))
	var all sync.WaitGroup
	for i, address := range c.cfg.Brokers {
		all.Go(func() {
			if _, causes[i] = askBroker(asking, &c.cfg, address, []string{}); causes[i] == nil {
				cancel() // one is enough
			}
		})
	}
	all.Wait()
	if slices.Contains(causes, nil) {
		return nil
	}
	return unreachable(causes)
}

// unreachable combines the causes why no broker can be used: causes that an operator must
// fix take precedence over temporary ones.
func unreachable(causes []error) error {
	refused := func(err error) bool { return errors.Is(err, ErrRefused) }
	if i := slices.IndexFunc(causes, refused); i >= 0 {
		return causes[i]
	}
	return fmt.Errorf("%w: %w", ErrBrokerUnreachable, errors.Join(causes...))
}

// explain replaces the transport's generic connection error by the cause, if connecting
// still fails.
func (c *Client) explain(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || !maybeUnreachable(err) {
		return err
	}
	if cause := c.Ping(ctx); cause != nil {
		return cause
	}
	return err
}

// diagnose is explain for a failure on one partition. The transport reports a topic as
// missing while it has not reached a broker, and just after the topic was created;
// diagnose queries a broker instead.
func (c *Client) diagnose(ctx context.Context, tp TopicPartition, err error) error {
	if !isMissing(err) || ctx.Err() != nil {
		return c.explain(ctx, err)
	}
	states, _, cause := c.topicStates(ctx, tp.Topic)
	switch {
	case cause != nil:
		return cause
	case states[tp.Topic].err != nil:
		return states[tp.Topic].err
	case states[tp.Topic].partitions <= tp.Partition:
		return ErrUnknownTopic
	default:
		return err
	}
}

func maybeUnreachable(err error) bool {
	var network net.Error
	return errors.Is(err, kafka.BrokerNotAvailable) || errors.Is(err, context.DeadlineExceeded) ||
		errors.As(err, &network) || isConnectionLoss(err)
}
