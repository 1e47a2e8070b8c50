package bus

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
)

// A call is a request that kafka-go has no message for, or reads with a loss.
// It is sent over a connection of a kafka.Transport, which dials, encrypts,
// authenticates and finds the leader; protocol.RawExchanger lets it bring its
// own bytes. Both calls of this package concern one partition.
//
// The wire format is that of https://kafka.apache.org/protocol, in versions
// before tagged fields.
type call struct {
	key       protocol.ApiKey
	version   int16
	clientID  string
	topic     string
	partition int
	// body appends the request's body.
	body func(w *wireWriter)
	// limitBytes bounds the answer.
	limitBytes int
}

// answer is the body of a response.
type answer struct {
	key  protocol.ApiKey
	body []byte
}

// ApiKey tells which request this is.
func (c *call) ApiKey() protocol.ApiKey { return c.key }

// ApiKey tells which request was answered.
func (a *answer) ApiKey() protocol.ApiKey { return a.key }

// Broker routes the call to the partition's leader.
func (c *call) Broker(cluster protocol.Cluster) (protocol.Broker, error) {
	topic, ok := cluster.Topics[c.topic]
	if !ok {
		return protocol.Broker{ID: -1}, protocol.NewErrNoTopic(c.topic)
	}
	partition, ok := topic.Partitions[int32(c.partition)]
	if !ok {
		return protocol.Broker{ID: -1}, protocol.NewErrNoPartition(c.topic, int32(c.partition))
	}
	leader, ok := cluster.Brokers[partition.Leader]
	if !ok {
		return protocol.Broker{ID: -1}, protocol.NewErrNoLeader(c.topic, int32(c.partition))
	}
	return leader, nil
}

// Required asks for RawExchange on every connection.
func (c *call) Required(map[protocol.ApiKey]int16) bool { return true }

// RawExchange sends the request and reads the response. A connection carries
// one exchange at a time, so the correlation id is constant.
func (c *call) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	const correlation = 7
	w := &wireWriter{buf: make([]byte, 4, 128)}
	w.int16(int16(c.key))
	w.int16(c.version)
	w.int32(correlation)
	w.text(c.clientID)
	c.body(w)
	binary.BigEndian.PutUint32(w.buf, uint32(len(w.buf)-4))
	if _, err := rw.Write(w.buf); err != nil {
		return nil, err
	}
	var head [8]byte
	if _, err := io.ReadFull(rw, head[:]); err != nil {
		return nil, err
	}
	size := int(binary.BigEndian.Uint32(head[:])) - 4
	if id := binary.BigEndian.Uint32(head[4:]); id != correlation || size < 0 || size > c.limitBytes {
		return nil, fmt.Errorf("%w: response %d of %d bytes, want %d of at most %d",
			ErrCorrupt, id, size, correlation, c.limitBytes)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(rw, body); err != nil {
		return nil, err
	}
	return &answer{c.key, body}, nil
}

var (
	_ protocol.BrokerMessage = (*call)(nil)
	_ protocol.RawExchanger  = (*call)(nil)
)

// codeError turns an error code of the protocol into an error.
func codeError(code int16) error {
	if code == 0 {
		return nil
	}
	return kafka.Error(code)
}

type wireWriter struct{ buf []byte }

func (w *wireWriter) int8(v int8)   { w.buf = append(w.buf, byte(v)) }
func (w *wireWriter) int16(v int16) { w.buf = binary.BigEndian.AppendUint16(w.buf, uint16(v)) }
func (w *wireWriter) int32(v int32) { w.buf = binary.BigEndian.AppendUint32(w.buf, uint32(v)) }
func (w *wireWriter) int64(v int64) { w.buf = binary.BigEndian.AppendUint64(w.buf, uint64(v)) }

func (w *wireWriter) text(v string) {
	w.int16(int16(len(v)))
	w.buf = append(w.buf, v...)
}

var errShort = errors.New("message ends early")

// wireReader takes fields off a message. The first failure sticks; fields read
// after it are zero.
type wireReader struct {
	rest []byte
	err  error
}

func (r *wireReader) take(n int) []byte {
	if r.err != nil || n < 0 || n > len(r.rest) {
		if r.err == nil {
			r.err = errShort
		}
		return nil
	}
	out := r.rest[:n:n]
	r.rest = r.rest[n:]
	return out
}

func (r *wireReader) int8() int8 {
	if b := r.take(1); b != nil {
		return int8(b[0])
	}
	return 0
}

func (r *wireReader) int16() int16 {
	if b := r.take(2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (r *wireReader) int32() int32 {
	if b := r.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (r *wireReader) int64() int64 {
	if b := r.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

func (r *wireReader) varint() int64 {
	if r.err != nil {
		return 0
	}
	v, n := binary.Varint(r.rest)
	if n <= 0 {
		r.err = errShort
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// varbytes reads bytes after their length; nil stands for null.
func (r *wireReader) varbytes() []byte {
	n := r.varint()
	if n < 0 || r.err != nil {
		return nil
	}
	return r.take(int(min(n, int64(len(r.rest))+1)))
}

func (r *wireReader) skipText() { r.take(int(r.int16())) }

// count reads the length of an array whose items take at least itemBytes, so
// that a wrong length cannot ask for more than the message holds.
func (r *wireReader) count(itemBytes int) int {
	n := int(r.int32())
	if n > len(r.rest)/itemBytes {
		r.err = errShort
	}
	if r.err != nil || n < 0 {
		return 0
	}
	return n
}
