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
	// ErrBrokerUnreachable marks that no configured broker answered. The error
	// names each address and why it failed. The caller should report it and
	// may try again; nothing is lost.
	ErrBrokerUnreachable = errors.New("no broker can be reached")

	// ErrRefused marks a connection that an operator must mend: a wrong password, an
	// expired certificate, a port that speaks TLS. The error names the broker and the
	// setting to look at.
	ErrRefused = secure.ErrRefused

	// ErrDenied marks what the brokers' ACLs do not let this principal do. The error
	// names the topic.
	ErrDenied = errors.New("denied by the brokers' ACLs")

	// ErrSession marks a kafka.session_timeout that the brokers' settings do not allow. The error
	// names both; the caller must not go on, for nobody would lead or train.
	ErrSession = errors.New("session timeout refused by the brokers")

	// ErrAbandoned tells a Watch that nobody waits any more for what it was told of, whether or
	// not that would work now.
	ErrAbandoned = errors.New("nobody waits for it any more")

	// ErrInterrupted marks that a partition has not been read for a while, for one
	// of the other reasons here or because its leader does not answer. The Tail goes
	// on trying; nothing is lost.
	ErrInterrupted = errors.New("reading is interrupted")

	// ErrUnknownTopic marks a topic or partition that does not exist. The
	// caller should run Admin.Apply or correct the prefix.
	ErrUnknownTopic = errors.New("topic or partition does not exist")

	// ErrPastEnd marks a position behind the log's end: the topic is not the
	// one the position belongs to, was created anew or lost its tail. The
	// caller must not go on.
	ErrPastEnd = errors.New("position is past the end of the log")

	// errDoubtful marks what a broker says that may have led before, while others do not answer.
	errDoubtful = errors.New("not all brokers say who leads")

	// ErrHoldsRecords marks partitions that are not added, because records are in
	// the topics already: their keys would move to other partitions.
	ErrHoldsRecords = errors.New("partitions cannot be added to topics that hold records")

	// ErrSurplus marks topics that have more partitions than they may have, which nothing takes away. The caller must
	// not go on: what is in them would be read out of order.
	ErrSurplus = errors.New("topics have too many partitions")

	// ErrTooLarge marks a record over the topic's max.message.bytes. The
	// caller must split it or refuse it; trying again fails again. A patient client
	// waits where the topic would take it with lethe's settings.
	ErrTooLarge = errors.New("record is larger than the topic allows")

	// errOtherSetting marks what brokers refuse because a setting of theirs or of the topic is another one than lethe
	// asks for, or because of their clock: an operator may mend that while a patient client waits.
	errOtherSetting = errors.New("refused for a setting of the topic or the brokers, or their clock (lethe topics plan " +
		"says what settings lethe needs)")

	// ErrMoved marks that other brokers keep a partition than a moment ago. The caller begins anew.
	ErrMoved = errors.New("a partition is kept by other brokers than before")

	// errBehind marks a broker that has not copied as much of a partition as its leader has.
	errBehind = errors.New("it has not copied all of it yet")

	// ErrClosed marks the use of a Tail after Close.
	ErrClosed = errors.New("closed")

	// ErrCorrupt marks bytes from a broker that cannot be what was written.
	ErrCorrupt = protocol.ErrCorrupt
)

// denied makes ErrDenied of what brokers say of missing rights, with what was asked for;
// other errors stay.
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

// keptOut reports whether an operator has to let this principal in, or lethe have
// another secret: a running process waits for that, and one that begins does not.
func keptOut(err error) bool { return errors.Is(err, ErrRefused) || errors.Is(err, ErrDenied) }

// PastEnd is the ErrPastEnd of a position behind a log that ends at an offset, with what to do.
func PastEnd(end int64) error {
	return fmt.Errorf("%w: the log ends at %d (the topic was created anew or lost its end: put the broker's log "+
		"and the data directory back from copies of one time, or begin anew with empty ones)", ErrPastEnd, end)
}

func isConnectionLoss(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// isMissing reports that the topic or partition is not known; it may be so
// new that the transport does not know it yet.
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
