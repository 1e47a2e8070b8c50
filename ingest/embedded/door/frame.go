package door

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// maxProduceBytes is Kafka's default of socket.request.max.bytes. Only requests with records
	// may be that large.
	maxProduceBytes = 100 << 20
	maxRequestBytes = 1 << 20
	// fixedBytes is the length of the key, version and correlation id in a header; a client id of two
	// bytes or more follows.
	fixedBytes = 8
	// smallBytes is the size of the buffer that a connection retains for its next request. heldBytes bounds
	// the memory that incoming requests of all connections may take, without these buffers.
	smallBytes = 64 << 10
	heldBytes  = 256 << 20
	// reusedBytes is the size of the shared buffers, enough for most producers' requests.
	reusedBytes = 2 << 20
	spares      = 4
)

// errMalformed marks a request that closes its connection.
var errMalformed = errors.New("malformed request")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{errMalformed}, args...)...)
}

// reader reads frames: a request after four bytes with its length.
type reader struct {
	from *bufio.Reader
	// hold reserves memory, or reports that there is none left. A negative number releases it.
	hold func(bytes int) bool
	// spare are free buffers of reusedBytes.
	spare  chan []byte
	buffer []byte
	held   int
}

// length reads the length of the next request.
func (r *reader) length() (int, error) {
	var prefix [4]byte
	if _, err := io.ReadFull(r.from, prefix[:]); err != nil {
		return 0, err
	}
	size := binary.BigEndian.Uint32(prefix[:])
	if size < fixedBytes+2 || size > maxProduceBytes {
		return 0, malformed("length %d", size)
	}
	return int(size), nil
}

// body reads a request after its length. The next call overwrites it.
func (r *reader) body(size int) ([]byte, error) {
	fixed, err := r.from.Peek(fixedBytes)
	if err != nil {
		return nil, err
	}
	key := int16(binary.BigEndian.Uint16(fixed))
	if _, ok := served[kmsg.Key(key)]; !ok {
		return nil, malformed("unknown request key %d", key)
	}
	if kmsg.Key(key) != kmsg.Produce && size > maxRequestBytes {
		return nil, malformed("length %d of request key %d", size, key)
	}
	for n := 0; n < size; {
		if n == len(r.buffer) {
			if err := r.grow(size); err != nil {
				return nil, err
			}
		}
		part := r.buffer[n:min(size, len(r.buffer))]
		if _, err := io.ReadFull(r.from, part); err != nil {
			return nil, err
		}
		n += len(part)
	}
	return r.buffer[:size], nil
}

// grow doubles the buffer, up to the size of a request. It prefers a spare buffer.
func (r *reader) grow(size int) error {
	grown := min(max(2*len(r.buffer), 4<<10), max(size, 4<<10))
	if grown > smallBytes && len(r.buffer) < reusedBytes {
		grown = reusedBytes
		select {
		case buffer := <-r.spare:
			r.use(buffer)
			return nil
		default:
		}
	}
	if grown > smallBytes {
		if !r.hold(grown - r.held) {
			return malformed("no memory left for requests that arrive at once")
		}
		r.held = grown
	}
	r.use(make([]byte, grown))
	return nil
}

// use switches to another buffer.
func (r *reader) use(buffer []byte) {
	copy(buffer, r.buffer)
	r.buffer = buffer
}

// release returns a large buffer.
func (r *reader) release() {
	if len(r.buffer) <= smallBytes {
		return
	}
	r.hold(-r.held)
	r.held = 0
	if len(r.buffer) == reusedBytes {
		select {
		case r.spare <- r.buffer:
		default:
		}
	}
	r.buffer = nil
}
