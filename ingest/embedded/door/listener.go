package door

import (
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kversion"
)

// Options are the bounds of a door.
type Options struct {
	// Versions are the requests that the broker answers.
	Versions *kversion.Versions
	// MaxConnections bounds the open connections. One more closes the connection that has been idle longest, one
	// that has sent no valid request before any other.
	MaxConnections int
	// MaxRequestBytes bounds a produce request, MaxOtherBytes any other.
	MaxRequestBytes, MaxOtherBytes int64
	// AnyBatch lets batches pass that cannot be walked.
	AnyBatch bool
	// MaxPartitions bounds the partitions of a topic that a client creates.
	MaxPartitions int32
	// RequestTimeout bounds the time in which a request that has begun must arrive, IdleTimeout the time between
	// two requests.
	RequestTimeout, IdleTimeout time.Duration
	Logger                      *slog.Logger
}

// Defaults returns bounds for a broker of one machine.
func Defaults(logger *slog.Logger) Options {
	return Options{
		Versions: Versions(), MaxConnections: 1024, MaxRequestBytes: 48 << 20, MaxOtherBytes: 4 << 20, MaxPartitions: 1000,
		RequestTimeout: time.Minute, IdleTimeout: 10 * time.Minute, Logger: logger,
	}
}

// listener is a net.Listener whose connections deliver checked requests.
type listener struct {
	net.Listener
	o       Options
	refused *refusals

	closed chan struct{}
	once   sync.Once

	mu    sync.Mutex
	conns map[*conn]struct{}
}

// Listen wraps a listener.
func Listen(l net.Listener, o Options) net.Listener {
	return &listener{
		Listener: l, o: o, refused: &refusals{logger: o.Logger}, closed: make(chan struct{}),
		conns: make(map[*conn]struct{}),
	}
}

// Accept implements net.Listener. While the process has no file descriptor left it waits for one.
func (l *listener) Accept() (net.Conn, error) {
	const retry = 100 * time.Millisecond
	for {
		accepted, err := l.Listener.Accept()
		if err == nil {
			return l.admit(accepted), nil
		}
		if !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENFILE) && !errors.Is(err, syscall.ECONNABORTED) {
			return nil, err
		}
		l.refused.log("no file descriptor for another connection", l.Addr())
		l.makeRoom()
		select {
		case <-l.closed:
			return nil, net.ErrClosed
		case <-time.After(retry):
		}
	}
}

// Close implements net.Listener.
func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// admit counts a connection, for which an idle one is closed if there are too many.
func (l *listener) admit(accepted net.Conn) *conn {
	c := newConn(accepted, l)
	l.mu.Lock()
	full := len(l.conns) >= l.o.MaxConnections
	l.mu.Unlock()
	if full {
		l.makeRoom()
	}
	l.mu.Lock()
	l.conns[c] = struct{}{}
	l.mu.Unlock()
	return c
}

// makeRoom closes the connection that has been idle longest, one without a valid request first.
func (l *listener) makeRoom() {
	l.mu.Lock()
	var idlest *conn
	for c := range l.conns {
		if idlest == nil || c.idlerThan(idlest) {
			idlest = c
		}
	}
	l.mu.Unlock()
	if idlest != nil {
		l.refused.log("too many connections: the one idle longest is closed", idlest.RemoteAddr())
		_ = idlest.Close() // its client connects again
	}
}

func (l *listener) remove(c *conn) {
	l.mu.Lock()
	delete(l.conns, c)
	l.mu.Unlock()
}

// refusals logs why requests and connections were refused, at most once a second.
type refusals struct {
	logger *slog.Logger
	last   atomic.Int64
	more   atomic.Int64
}

func (r *refusals) log(reason string, from net.Addr) {
	now, last := time.Now().UnixNano(), r.last.Load()
	if now-last < int64(time.Second) || !r.last.CompareAndSwap(last, now) {
		r.more.Add(1)
		return
	}
	r.logger.Warn("embedded broker: refused", "reason", reason, "client", from.String(), "others", r.more.Swap(0))
}
