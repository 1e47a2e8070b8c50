package door

import (
	"bufio"
	"encoding/binary"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// responseHeaderBytes is the length of the size prefix and the correlation id of a response without tagged fields
// in its header.
const responseHeaderBytes = 8

// conn is a client's connection. The broker reads only checked requests from it.
type conn struct {
	net.Conn
	l *Listener
	// used is set once a complete request has arrived, and last is the time of the latest one, or of the
	// connection.
	used   atomic.Bool
	last   atomic.Int64
	frames reader
	prefix [4]byte
	// head and body are the unread parts of the current request.
	head, body []byte

	mu sync.Mutex
	// awaited are the requests whose responses are outstanding, in order.
	awaited []request
	once    sync.Once
}

func newConn(raw net.Conn, l *Listener) *conn {
	c := &conn{Conn: raw, l: l}
	c.last.Store(time.Now().UnixNano())
	c.frames = reader{from: bufio.NewReader(raw), spare: l.spare, hold: func(n int) bool {
		if held := l.held.Add(int64(n)); n > 0 && held > heldBytes {
			l.held.Add(-int64(n))
			return false
		}
		return true
	}}
	return c
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	if len(c.head)+len(c.body) == 0 {
		if err := c.next(); err != nil {
			c.frames.release()
			if errors.Is(err, errMalformed) {
				c.l.warn.log("connection closed", "client", c.RemoteAddr().String(), "error", err)
			}
			_ = c.Close()
			return 0, err
		}
	}
	from := &c.head
	if len(c.head) == 0 {
		from = &c.body
	}
	n := copy(p, *from)
	*from = (*from)[n:]
	if len(c.head)+len(c.body) == 0 {
		c.frames.release()
	}
	return n, nil
}

// next waits for the next request and checks it.
func (c *conn) next() error {
	wait := idleTimeout
	if !c.used.Load() {
		wait = firstRequestTimeout
	}
	if err := c.SetReadDeadline(time.Now().Add(wait)); err != nil {
		return err
	}
	size, err := c.frames.length()
	if err != nil {
		return err
	}
	if err := c.SetReadDeadline(time.Now().Add(min(frameTimeout, wait))); err != nil {
		return err
	}
	frame, err := c.frames.body(size)
	if err != nil {
		return err
	}
	passed, err := c.l.check(frame)
	if err != nil {
		return err
	}
	c.used.Store(true)
	c.last.Store(time.Now().UnixNano())
	if !passed.silent {
		c.mu.Lock()
		c.awaited = append(c.awaited, request{edit: passed.edit, kind: passed.kind})
		c.mu.Unlock()
	}
	binary.BigEndian.PutUint32(c.prefix[:], uint32(len(passed.frame)))
	c.head, c.body = c.prefix[:], passed.frame
	return nil
}

// Write implements net.Conn. The broker writes one response at a time.
func (c *conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	var due request
	if len(c.awaited) > 0 {
		due = c.awaited[0]
		c.awaited = c.awaited[1:]
	}
	c.mu.Unlock()
	out := p
	if due.edit != nil && len(p) >= responseHeaderBytes {
		if err := due.kind.ReadFrom(p[responseHeaderBytes:]); err != nil {
			return 0, err
		}
		due.edit(due.kind)
		out = due.kind.AppendTo(append([]byte(nil), p[:responseHeaderBytes]...))
		binary.BigEndian.PutUint32(out, uint32(len(out)-4))
	}
	if err := c.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return 0, err
	}
	if n, err := c.Conn.Write(out); err != nil {
		return min(n, len(p)), err
	}
	return len(p), nil
}

// idlerThan orders connections: those without a request first, then by the time of the latest one.
func (c *conn) idlerThan(other *conn) bool {
	if used := c.used.Load(); used != other.used.Load() {
		return !used
	}
	return c.last.Load() < other.last.Load()
}

// Close implements net.Conn.
func (c *conn) Close() (err error) {
	c.once.Do(func() {
		c.l.forget(c)
		err = c.Conn.Close()
	})
	return err
}
