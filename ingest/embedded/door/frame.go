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
	// maxProduceBytes is Kafka's socket.request.max.bytes. Only requests with records are that large.
	maxProduceBytes = 100 << 20
	maxRequestBytes = 1 << 20
	// fixedBytes of a header are key, version and correlation id; a client id of two bytes or more follows.
	fixedBytes = 8
	// smallBytes is what a connection keeps for its next request. It is not counted in heldBytes, the memory that
	// requests of all connections may take while they arrive.
	smallBytes = 64 << 10
	heldBytes  = 256 << 20
	// reusedBytes is the size of the buffers that connections share, enough for what most producers send at once.
	reusedBytes = 2 << 20
	spares      = 4
)

// errMalformed marks a request that closes its connection.
var errMalformed = errors.New("malformed request")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{errMalformed}, args...)...)
}

// reader reads frames: a request behind four bytes with its length.
type reader struct {
	from *bufio.Reader
	// hold reserves memory, or reports that there is none left. It may be negative.
	hold func(bytes int) bool
	// spare are buffers of reusedBytes that are allocated already.
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

// body reads the request behind a length. It is overwritten by the next one.
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

// grow doubles the buffer, up to the size of a request. A spare one costs nothing.
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

// use goes on with another buffer.
func (r *reader) use(buffer []byte) {
	copy(buffer, r.buffer)
	r.buffer = buffer
}

// release gives a large buffer back.
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
