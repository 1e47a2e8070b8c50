package bus

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"

	"lethe/ingest/bus/secure"
	"lethe/ingest/bus/seeds"
)

// Every connection to a broker is made in this file, by package secure.

// metadataAge bounds the age of cached metadata of leaders and topics.
const metadataAge = 2 * time.Second

// link is a pool of connections that can be closed at once. kafka.Transport alone keeps a
// connection open until its last response arrives, which takes long for a fetch.
type link struct {
	transport *kafka.Transport
	address   net.Addr
	// stop ends the transport's background work, also for a request that is made after
	// the pool was closed.
	stop context.CancelFunc

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
	// refused is the error of the last attempt to connect, if it was refused.
	refused error
}

func newLink(cfg *Config) *link {
	background, stop := context.WithCancel(context.Background())
	l := &link{address: kafka.TCP(anyBroker), stop: stop, conns: map[net.Conn]struct{}{}}
	dial := dialing(cfg)
	l.transport = &kafka.Transport{
		ClientID:    cfg.ClientID,
		DialTimeout: cfg.DialTimeout,
		MetadataTTL: metadataAge,
		// Without names it would query all topics of the cluster, which may be thousands.
		MetadataTopics: cfg.names(),
		Context:        background,
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err != nil {
				l.note(err)
				return nil, err
			}
			return l.adopt(conn)
		},
	}
	return l
}

func (l *link) adopt(conn net.Conn) (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		_ = conn.Close()
		return nil, ErrClosed
	}
	l.conns[conn], l.refused = struct{}{}, nil
	return &linkedConn{Conn: conn, link: l}, nil
}

// note records why a connection was refused, because the transport does not report it.
func (l *link) note(err error) {
	if errors.Is(err, ErrRefused) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.refused = err
	}
}

// cause returns why the last attempt to connect was refused, or nil.
func (l *link) cause() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refused
}

// forget makes the transport query topics again before the next request. Idle connections are
// closed now, the others once they are idle.
func (l *link) forget() { l.transport.CloseIdleConnections() }

// cut closes every connection, idle or not.
func (l *link) cut() {
	l.mu.Lock()
	l.closed = true
	for conn := range l.conns {
		_ = conn.Close()
	}
	clear(l.conns)
	l.mu.Unlock()
	l.stop()
	l.transport.CloseIdleConnections()
}

type linkedConn struct {
	net.Conn
	link *link
}

// Close closes the connection and removes it from the link.
func (c *linkedConn) Close() error {
	c.link.mu.Lock()
	delete(c.link.conns, c.Conn)
	c.link.mu.Unlock()
	return c.Conn.Close()
}

// anyBroker is a placeholder address for the configured broker that connects first. Given several
// addresses, kafka-go would try one after the other, and give the first the whole timeout.
const anyBroker = "any-broker.invalid:9092"

// dialing connects to brokers by their addresses, and to anyBroker.
func dialing(cfg *Config) func(ctx context.Context, network, address string) (net.Conn, error) {
	named := newDialer(cfg)
	greeted := named
	greeted.Greets = len(cfg.Brokers) > 1
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if address != anyBroker {
			return named.DialContext(ctx, network, address)
		}
		brokers := make([]string, len(cfg.Brokers))
		for i, from := range rand.Perm(len(brokers)) { // random order spreads the load over the brokers
			brokers[i] = cfg.Brokers[from]
		}
		conn, causes := seeds.First(ctx, brokers, func(ctx context.Context, broker string) (net.Conn, error) {
			conn, err := greeted.DialContext(ctx, network, broker)
			if err != nil && !errors.Is(err, ErrRefused) { // the error of a refusal already names the address
				err = fmt.Errorf("broker %s: %w", broker, err)
			}
			return conn, err
		}, func(late net.Conn) { _ = late.Close() })
		if causes != nil {
			return nil, unreachable(causes)
		}
		return conn, nil
	}
}

func newDialer(cfg *Config) secure.Dialer {
	return secure.Dialer{
		Config: secure.Config{TLS: cfg.TLS, SASL: cfg.SASL}, ClientID: cfg.ClientID, Timeout: cfg.DialTimeout,
	}
}
