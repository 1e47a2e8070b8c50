package door

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// keptBytes is how large a buffer a connection keeps between requests.
const keptBytes = 1 << 20

// conn delivers whole, checked requests to the broker, which reads it from one goroutine and writes a whole response
// with each Write from another.
type conn struct {
	net.Conn
	door *listener

	buffer bytes.Buffer
	rest   []byte // of the request in buffer, not yet read

	mu sync.Mutex
	// answered is signalled when a response was written or the connection is closed.
	answered *sync.Cond
	// pending are requests without a response.
	pending  int
	closed   bool
	valid    bool
	lastUsed time.Time
}

func newConn(c net.Conn, door *listener) *conn {
	out := &conn{Conn: c, door: door, lastUsed: time.Now()}
	out.answered = sync.NewCond(&out.mu)
	return out
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	for len(c.rest) == 0 {
		if err := c.receive(); err != nil {
			return 0, err
		}
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// Write implements net.Conn; p is a whole response.
func (c *conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.mu.Lock()
	c.pending--
	c.mu.Unlock()
	c.answered.Broadcast()
	return n, err
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.answered.Broadcast()
	c.door.remove(c)
	return c.Conn.Close()
}

// receive reads the next request into rest, or answers it. The error ends the connection.
func (c *conn) receive() error {
	request, err := c.readRequest()
	if err != nil {
		return c.end(err)
	}
	checked, err := check(request, &c.door.o)
	if err != nil {
		return c.end(err)
	}
	c.mu.Lock()
	c.valid, c.lastUsed = true, time.Now()
	c.mu.Unlock()
	if checked.answer != nil {
		return c.reply(checked)
	}
	if checked.hasResponse {
		c.mu.Lock()
		c.pending++
		c.mu.Unlock()
	}
	c.rest = c.buffer.Bytes()
	return nil
}

// readRequest reads a request, whose length comes first, into buffer, and returns it without the length. Memory grows
// with what arrives, not with what is claimed.
func (c *conn) readRequest() ([]byte, error) {
	const lengthBytes, keyBytes = 4, 2
	if c.buffer.Cap() > keptBytes {
		c.buffer = bytes.Buffer{}
	}
	c.buffer.Reset()
	if err := c.SetReadDeadline(time.Now().Add(c.door.o.IdleTimeout)); err != nil {
		return nil, err
	}
	if _, err := io.CopyN(&c.buffer, c.Conn, 1); err != nil {
		return nil, io.EOF // it is closed between two requests
	}
	if err := c.SetReadDeadline(time.Now().Add(c.door.o.RequestTimeout)); err != nil {
		return nil, err
	}
	if _, err := io.CopyN(&c.buffer, c.Conn, lengthBytes+keyBytes-1); err != nil {
		return nil, fmt.Errorf("a request ended early: %w", err)
	}
	size := int64(int32(binary.BigEndian.Uint32(c.buffer.Bytes())))
	key := int16(binary.BigEndian.Uint16(c.buffer.Bytes()[lengthBytes:]))
	if most := c.door.o.maxBytes(key); size < headerBytes || size > most {
		return nil, fmt.Errorf("a request of kind %d claims %d bytes, want %d to %d", key, size, headerBytes, most)
	}
	if _, err := io.CopyN(&c.buffer, c.Conn, size-keyBytes); err != nil {
		return nil, fmt.Errorf("a request of %d bytes ended early: %w", size, err)
	}
	return c.buffer.Bytes()[lengthBytes:], c.SetReadDeadline(time.Time{})
}

// reply writes the answer to a refused request once all earlier requests have theirs: a connection's responses have the
// order of its requests.
func (c *conn) reply(r checked) error {
	if r.reason != "" {
		c.door.refused.log(r.reason, c.RemoteAddr())
	}
	c.mu.Lock()
	for c.pending > 0 && !c.closed {
		c.answered.Wait()
	}
	closed := c.closed
	c.mu.Unlock()
	if closed {
		return net.ErrClosed
	}
	_, err := c.Conn.Write(r.answer)
	return err
}

// end closes the connection for a reason, which is logged unless the client has closed it.
func (c *conn) end(reason error) error {
	if reason != io.EOF { //nolint:errorlint // readRequest returns it as it is
		c.door.refused.log(reason.Error(), c.RemoteAddr())
	}
	_ = c.Close()
	return io.EOF
}

// idlerThan orders connections: those that have sent no valid request come first, then by the last request.
func (c *conn) idlerThan(other *conn) bool {
	valid, used := c.use()
	otherValid, otherUsed := other.use()
	if valid != otherValid {
		return !valid
	}
	return used.Before(otherUsed)
}

func (c *conn) use() (valid bool, last time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.valid, c.lastUsed
}
