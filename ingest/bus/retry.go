package bus

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	busprotocol "lethe/ingest/bus/protocol"
	"lethe/internal/sleep"
)

const (
	firstPause = 20 * time.Millisecond
	maxPause   = time.Second
)

// pause waits before the given attempt (0 is the first retry), or until the
// context ends, whose error it returns.
func pause(ctx context.Context, attempt int) error {
	return sleep.For(ctx, min(firstPause<<min(attempt, 10), maxPause))
}

func isConnectionLoss(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// isMissing reports that the topic or partition is not known; it may be so
// new that the transport does not know it yet.
func isMissing(err error) bool {
	return errors.Is(err, kafka.UnknownTopicOrPartition) ||
		errors.Is(err, protocol.ErrNoTopic) || errors.Is(err, protocol.ErrNoPartition)
}

// isTemporary reports whether the same request may succeed later.
func isTemporary(err error) bool {
	if keptOut(err) {
		return false
	}
	var code kafka.Error
	if errors.As(err, &code) {
		return code.Temporary() || code.Timeout() || code == kafka.BrokerNotAvailable
	}
	var network net.Error
	return isConnectionLoss(err) || errors.As(err, &network) ||
		errors.Is(err, protocol.ErrNoLeader) || errors.Is(err, errBehind) || errors.Is(err, busprotocol.ErrAway) ||
		errors.Is(err, context.DeadlineExceeded)
}
