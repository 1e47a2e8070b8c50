package protocol

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/segmentio/kafka-go"
	kafkaprotocol "github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// ErrCorrupt marks bytes from a broker that cannot be those that were written.
var ErrCorrupt = errors.New("corrupt record batch or answer")

// ErrAway marks a request to a broker that is currently not in the cluster. It may come back.
var ErrAway = errors.New("the broker is away")

// Client sends requests to the leaders of partitions. It is safe for concurrent use.
type Client struct {
	Transport *kafka.Transport
	// Address is the address of the bootstrap brokers.
	Address net.Addr
	// ClientID identifies this program to the brokers.
	ClientID string
}

// call is a request in the form that the transport requires: a BrokerMessage for routing and a
// RawExchanger that writes its own bytes. It concerns one partition.
type call struct {
	request   kmsg.Request
	clientID  string
	topic     string
	partition int
	// broker, if not nil, receives the request in place of the leader.
	broker *int32
	// limitBytes bounds the response.
	limitBytes int64
	// check, if not nil, validates the response before it is decoded.
	check func(body []byte) error
}

// answer is the response to a call.
type answer struct{ kmsg.Response }

// send makes the call and returns the response.
func (c Client) send(ctx context.Context, request *call) (kmsg.Response, error) {
	request.clientID = c.ClientID
	message, err := c.Transport.RoundTrip(ctx, c.Address, request)
	if err != nil {
		return nil, err
	}
	return message.(*answer).Response, nil
}

// ApiKey returns the type of the request.
func (c *call) ApiKey() kafkaprotocol.ApiKey { return kafkaprotocol.ApiKey(c.request.Key()) }

// ApiKey returns the type of the request that was answered.
func (a *answer) ApiKey() kafkaprotocol.ApiKey { return kafkaprotocol.ApiKey(a.Key()) }

// Broker routes the call to the partition's leader, or to the given broker.
func (c *call) Broker(cluster kafkaprotocol.Cluster) (kafkaprotocol.Broker, error) {
	if c.broker != nil {
		asked, ok := cluster.Brokers[*c.broker]
		if !ok {
			return kafkaprotocol.Broker{ID: -1}, fmt.Errorf("%w: broker %d", ErrAway, *c.broker)
		}
		return asked, nil
	}
	topic, ok := cluster.Topics[c.topic]
	if !ok {
		return kafkaprotocol.Broker{ID: -1}, kafkaprotocol.NewErrNoTopic(c.topic)
	}
	partition, ok := topic.Partitions[int32(c.partition)]
	if !ok {
		return kafkaprotocol.Broker{ID: -1}, kafkaprotocol.NewErrNoPartition(c.topic, int32(c.partition))
	}
	leader, ok := cluster.Brokers[partition.Leader]
	if !ok {
		return kafkaprotocol.Broker{ID: -1}, kafkaprotocol.NewErrNoLeader(c.topic, int32(c.partition))
	}
	return leader, nil
}

// Required selects RawExchange on every connection.
func (c *call) Required(map[kafkaprotocol.ApiKey]int16) bool { return true }

// RawExchange sends the request and reads the response.
func (c *call) RawExchange(rw io.ReadWriter) (kafkaprotocol.Message, error) {
	body, err := exchange(rw, c.clientID, c.request, c.limitBytes)
	if err != nil {
		return nil, err
	}
	if c.check != nil {
		if err := c.check(body); err != nil {
			return nil, err
		}
	}
	response, err := read(c.request, body)
	if err != nil {
		return nil, err
	}
	return &answer{response}, nil
}

// Exchange sends a request over a connection that has no other request in flight and returns the
// response, of at most limitBytes. Errors: ErrCorrupt, failures of the connection.
func Exchange(rw io.ReadWriter, clientID string, request kmsg.Request, limitBytes int64) (kmsg.Response, error) {
	body, err := exchange(rw, clientID, request, limitBytes)
	if err != nil {
		return nil, err
	}
	return read(request, body)
}

// exchange sends the request and reads the body of the response. A connection carries
// one exchange at a time, so the correlation id is constant.
func exchange(rw io.ReadWriter, clientID string, request kmsg.Request, limitBytes int64) ([]byte, error) {
	const correlation = 7
	formatter := kmsg.NewRequestFormatter(kmsg.FormatterClientID(clientID))
	if _, err := rw.Write(formatter.AppendRequest(nil, request, correlation)); err != nil {
		return nil, err
	}
	var head [8]byte
	if _, err := io.ReadFull(rw, head[:]); err != nil {
		return nil, err
	}
	size := int64(binary.BigEndian.Uint32(head[:])) - 4
	if id := binary.BigEndian.Uint32(head[4:]); id != correlation || size < 0 || size > limitBytes {
		return nil, fmt.Errorf("%w: response %d of %d bytes, want %d of at most %d",
			ErrCorrupt, id, size, correlation, limitBytes)
	}
	return readBody(rw, size)
}

// read decodes the body of the response to a request.
func read(request kmsg.Request, body []byte) (kmsg.Response, error) {
	response := request.ResponseKind()
	// No field in a response header is known; brokers send none.
	if request.IsFlexible() {
		if len(body) == 0 || body[0] != 0 {
			return nil, fmt.Errorf("%w: response of kind %d: fields in its header", ErrCorrupt, response.Key())
		}
		body = body[1:]
	}
	if err := response.ReadFrom(body); err != nil {
		return nil, fmt.Errorf("%w: response of kind %d: %w", ErrCorrupt, response.Key(), err)
	}
	return response, nil
}

// readBody reads size bytes. Memory beyond the default fetch size and its framing is allocated as the bytes arrive,
// not because a header announces them.
func readBody(r io.Reader, size int64) ([]byte, error) {
	const ahead = 4<<20 + 4<<10
	body := make([]byte, min(size, ahead))
	for read := 0; ; {
		n, err := io.ReadFull(r, body[read:])
		if read += n; errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil || int64(read) == size {
			return body[:read], err
		}
		grown := make([]byte, min(size, 2*int64(read)))
		copy(grown, body)
		body = grown
	}
}

var (
	_ kafkaprotocol.BrokerMessage = (*call)(nil)
	_ kafkaprotocol.RawExchanger  = (*call)(nil)
)

// codeError converts an error code of the protocol to an error.
func codeError(code int16) error {
	if code == 0 {
		return nil
	}
	return kafka.Error(code)
}
