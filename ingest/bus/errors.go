package bus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"github.com/segmentio/kafka-go"
	kafkaprotocol "github.com/segmentio/kafka-go/protocol"

	"lethe/ingest/bus/protocol"
	"lethe/ingest/bus/secure"
)

var (
	// ErrBrokerUnreachable means that no configured broker responded. The error names
	// each address and why it failed. The caller should report it and may retry; nothing
	// is lost.
	ErrBrokerUnreachable = errors.New("no broker can be reached")

	// ErrRefused marks a connection problem that an operator must fix: a wrong password,
	// an expired certificate, a port that requires TLS. The error names the broker and
	// the setting to check.
	ErrRefused = secure.ErrRefused

	// ErrDenied marks an operation that the brokers' ACLs do not allow this principal.
	// The error names the topic.
	ErrDenied = errors.New("denied by the brokers' ACLs")

	// ErrSession marks a kafka.session_timeout that the brokers' settings do not allow. The
	// error names both; the caller must stop, because it would never be assigned any work.
	ErrSession = errors.New("session timeout refused by the brokers")

	// ErrAbandoned is passed to a Watch when the caller no longer waits for an operation,
	// whether or not it would succeed now.
	ErrAbandoned = errors.New("nobody waits for it any more")

	// ErrInterrupted means that a partition has not been read for a while, for one of
	// the other reasons here or because its leader does not respond. The Tail keeps
	// retrying; nothing is lost.
	ErrInterrupted = errors.New("reading is interrupted")

	// ErrUnknownTopic marks a topic or partition that does not exist. The caller should
	// run Admin.Apply or correct the prefix.
	ErrUnknownTopic = errors.New("topic or partition does not exist")

	// ErrPastEnd marks a position after the end of the log: the position belongs to
	// another topic, or the topic was created again or lost its tail. The caller must
	// stop.
	ErrPastEnd = errors.New("position is past the end of the log")

	// errDoubtful marks the response of a broker that may be a previous leader, while other
	// brokers do not respond.
	errDoubtful = errors.New("not all brokers know the leader")

	// ErrHoldsRecords means that partitions were not added because the topics already
	// hold records: their keys would move to other partitions.
	ErrHoldsRecords = errors.New("partitions cannot be added to topics that hold records")

	// ErrSurplus marks topics that have more partitions than they may have, which cannot be
	// removed. The caller must stop: their records would be read out of order.
	ErrSurplus = errors.New("topics have too many partitions")

	// ErrTooLarge marks a record over the topic's max.message.bytes. The caller must
	// split or reject it; a retry fails again. A patient client waits if the topic would
	// accept it with lethe's settings.
	ErrTooLarge = errors.New("record is larger than the topic allows")

	// errOtherSetting marks a request that brokers refuse because one of their settings or of the topic's differs from
	// the required one, or because of their clock: an operator may fix that while a patient client waits.
	errOtherSetting = errors.New("refused for a setting of the topic or the brokers, or their clock (lethe topics plan " +
		"says what settings lethe needs)")

	// ErrMoved means that a partition was moved to other brokers during the read. The caller
	// starts again.
	ErrMoved = errors.New("a partition is kept by other brokers than before")

	// errBehind marks a replica that is behind the partition's leader.
	errBehind = errors.New("it has not copied all of it yet")

	// ErrClosed marks the use of a Tail after Close.
	ErrClosed = errors.New("closed")

	// ErrCorrupt marks bytes from a broker that cannot be those that were written.
	ErrCorrupt = protocol.ErrCorrupt
)

// denied converts a broker's error about missing rights to ErrDenied, with the denied
// operation; other errors are returned unchanged.
func denied(what string, err error) error {
	if errors.Is(err, ErrDenied) {
		return err
	}
	for _, code := range []kafka.Error{
		kafka.TopicAuthorizationFailed, kafka.ClusterAuthorizationFailed, kafka.GroupAuthorizationFailed,
	} {
		if errors.Is(err, code) {
			return fmt.Errorf("%s: %w to the principal of kafka.sasl.username or kafka.tls.certificate_file: %s "+
				"(lethe topics acls prints what each principal needs)", what, ErrDenied, code.Title())
		}
	}
	return err
}

// keptOut reports whether an operator has to give this principal access or change lethe's
// credentials: a running process waits for that, and a starting one fails.
func keptOut(err error) bool { return errors.Is(err, ErrRefused) || errors.Is(err, ErrDenied) }

// PastEnd returns ErrPastEnd for a position after the end of a log, with the remedy.
func PastEnd(end int64) error {
	return fmt.Errorf("%w: the log ends at %d (the topic was deleted and created again or lost its end: put the "+
		"broker's log and the data directory back from copies of one time, or start over with empty ones)", ErrPastEnd, end)
}

func isConnectionLoss(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// isMissing reports that the topic or partition is not known; it may be so new that the
// transport does not know it yet.
func isMissing(err error) bool {
	return errors.Is(err, kafka.UnknownTopicOrPartition) ||
		errors.Is(err, kafkaprotocol.ErrNoTopic) || errors.Is(err, kafkaprotocol.ErrNoPartition)
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
		errors.Is(err, kafkaprotocol.ErrNoLeader) || errors.Is(err, errBehind) || errors.Is(err, protocol.ErrAway) ||
		errors.Is(err, context.DeadlineExceeded)
}
