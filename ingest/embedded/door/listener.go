package door

import (
	"errors"
	"log/slog"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Options are the limits of a door.
type Options struct {
	// Connections is the maximum number of connections.
	Connections int
	// DeleteTopics lets clients delete lethe's own topics.
	DeleteTopics bool
	// StoreAny accepts batches that readers reject, as Apache Kafka does.
	StoreAny bool
	// OwnTopic reports whether a topic is one of lethe's own.
	OwnTopic func(name string) bool
	Logger   *slog.Logger
}

const (
	// firstRequestTimeout is for the first request of a connection.
	firstRequestTimeout = 30 * time.Second
	// idleTimeout is Kafka's default of connections.max.idle.ms.
	idleTimeout = 10 * time.Minute
	// frameTimeout bounds how long one request may take to arrive, writeTimeout how long a client may take to accept
	// a response.
	frameTimeout = time.Minute
	writeTimeout = 2 * time.Minute
	// maxAcceptPause bounds the pause after the system could not accept a connection.
	maxAcceptPause = time.Second
	// keepAlive is how often a silent connection is probed.
	keepAlive = 30 * time.Second
)

// Listener accepts connections for the broker. It retries after errors of the system, such as a lack of file
// descriptors: Accept fails only once the listener is closed.
type Listener struct {
	tcp      net.Listener
	o        Options
	accepted chan net.Conn
	closed   chan struct{}
	close    func() error
	warn     warner
	// large admits one large request at a time to the decoder.
	large chan struct{}
	// inflating limits concurrent decompression to the number of processors.
	inflating chan struct{}
	spare     chan []byte
	// held is the memory of requests that are being read, created the number of partitions that clients
	// have created.
	held, created atomic.Int64

	mu    sync.Mutex
	conns map[*conn]struct{}
}

// Guard wraps a TCP listener in a door. Closing the door closes the listener.
func Guard(tcp net.Listener, o Options) *Listener {
	l := &Listener{
		tcp: tcp, o: o, accepted: make(chan net.Conn), closed: make(chan struct{}), warn: warner{to: o.Logger},
		large: make(chan struct{}, 1), spare: make(chan []byte, spares),
		inflating: make(chan struct{}, runtime.GOMAXPROCS(0)), conns: map[*conn]struct{}{},
	}
	l.close = sync.OnceValue(func() error {
		close(l.closed)
		return tcp.Close()
	})
	go l.acceptAll()
	return l
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.accepted:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. Connections stay open.
func (l *Listener) Close() error { return l.close() }

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr { return l.tcp.Addr() }

// Dial connects from within the process, without limits and without a file descriptor.
func (l *Listener) Dial() (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.accepted <- server:
		return client, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *Listener) acceptAll() {
	for pause := time.Duration(0); ; {
		raw, err := l.tcp.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			pause = min(max(2*pause, 5*time.Millisecond), maxAcceptPause)
			l.warn.log("cannot accept connections, will try again", "error", err)
			l.makeRoom()
			select {
			case <-time.After(pause):
			case <-l.closed:
				return
			}
			continue
		}
		pause = 0
		if tcp, ok := raw.(*net.TCPConn); ok {
			_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: keepAlive, Interval: keepAlive, Count: 4})
		}
		if !l.admit(raw) {
			return
		}
	}
}

// admit passes a connection to the broker. It reports false once the listener is closed.
func (l *Listener) admit(raw net.Conn) bool {
	l.makeRoom()
	c := newConn(raw, l)
	l.mu.Lock()
	l.conns[c] = struct{}{}
	l.mu.Unlock()
	select {
	case l.accepted <- c:
		return true
	case <-l.closed:
		_ = c.Close()
		return false
	}
}

// makeRoom closes, if all connections are in use, the one that has been idle longest, preferring those that have
// not sent a request yet. Its client can connect again.
func (l *Listener) makeRoom() {
	var idle *conn
	l.mu.Lock()
	if len(l.conns) >= l.o.Connections {
		for c := range l.conns {
			if idle == nil || c.idlerThan(idle) {
				idle = c
			}
		}
	}
	l.mu.Unlock()
	if idle != nil {
		l.warn.log("connection closed", "error", "all connections are in use, and it was idle longest",
			"connections", l.o.Connections, "client", idle.RemoteAddr().String())
		_ = idle.Close()
	}
}

func (l *Listener) forget(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
}

// warner logs at a limited rate.
type warner struct {
	to      *slog.Logger
	mu      sync.Mutex
	last    time.Time
	omitted int
}

// warnEvery is the minimum time between two warnings.
const warnEvery = 5 * time.Second

func (w *warner) log(text string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Since(w.last) < warnEvery {
		w.omitted++
		return
	}
	if w.omitted > 0 {
		args = append(args, "omitted", w.omitted)
	}
	w.last, w.omitted = time.Now(), 0
	w.to.Warn("embedded broker: "+text, args...)
}
