package bus

import (
	"errors"

	"lethe/ingest/bus/protocol"
)

var (
	// ErrBrokerUnreachable marks that no configured broker answered. The error
	// names each address and why it failed. The caller should report it and
	// may try again; nothing is lost.
	ErrBrokerUnreachable = errors.New("no broker can be reached")

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

	// ErrHoldsRecords marks partitions that are not added, because records are in
	// the topics already: their keys would move to other partitions.
	ErrHoldsRecords = errors.New("partitions cannot be added to topics that hold records")

	// ErrTooLarge marks a record over the topic's max.message.bytes. The
	// caller must split it or refuse it; trying again fails again.
	ErrTooLarge = errors.New("record is larger than the topic allows")

	// ErrClosed marks the use of a Tail after Close.
	ErrClosed = errors.New("closed")

	// ErrCorrupt marks bytes from a broker that cannot be what was written.
	ErrCorrupt = protocol.ErrCorrupt
)
