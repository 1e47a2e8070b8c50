package bus

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
)

// Every connection to a broker is made in this file: encryption and
// authentication belong here and nowhere else.

// metadataAge bounds how old the knowledge of leaders and topics may be.
const metadataAge = 2 * time.Second

// link is a pool of connections that can be cut at once. kafka.Transport alone
// keeps a connection open until its last request is answered, and a fetch is
// answered late.
type link struct {
	transport *kafka.Transport
	address   net.Addr
	// stop ends what the transport does by itself, also for a request that comes
	// after the cut.
	stop context.CancelFunc

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
}

func newLink(cfg *Config) *link {
	background, stop := context.WithCancel(context.Background())
	l := &link{address: kafka.TCP(cfg.Brokers...), stop: stop, conns: map[net.Conn]struct{}{}}
	dialer := &net.Dialer{Timeout: cfg.DialTimeout}
	l.transport = &kafka.Transport{
		ClientID:    cfg.ClientID,
		DialTimeout: cfg.DialTimeout,
		MetadataTTL: metadataAge,
		Context:     background,
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil {
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
	l.conns[conn] = struct{}{}
	return &linkedConn{Conn: conn, link: l}, nil
}

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

// Close closes the connection and forgets it.
func (c *linkedConn) Close() error {
	c.link.mu.Lock()
	delete(c.link.conns, c.Conn)
	c.link.mu.Unlock()
	return c.Conn.Close()
}

// newDialer makes the dialer that probes brokers: unlike the transport it
// tells why a connection failed.
func newDialer(cfg *Config) *kafka.Dialer {
	return &kafka.Dialer{ClientID: cfg.ClientID, Timeout: cfg.DialTimeout, DualStack: true}
}
