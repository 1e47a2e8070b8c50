package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/snapshot/closed"
	"lethe/snapshot/stored"
)

// Stream tells which records a partition carries.
type Stream uint8

// The streams. A topic of NoStream brings no records for the graphs; its offset
// is stored nevertheless.
const (
	NoStream Stream = iota
	Transactions
	Labels
)

// Source is one partition of a topic. Topic and Partition name the stored
// offset, Stream and Partition the watermark.
type Source struct {
	Stream    Stream
	Topic     string
	Partition int
}

// TopicPartition names a stored offset.
type TopicPartition struct {
	Topic     string
	Partition int
}

// Header is a header of an original record.
type Header struct {
	Key   string
	Value []byte
}

// Origin is the record as it was read. It is kept while the record is pending
// and given back with a refusal. Only Offset has a meaning here: below the stored
// offset, a record was delivered again.
type Origin struct {
	Topic          string
	Partition      int
	Offset         int64
	TimeUnixMillis int64
	// InPlace says that the record stands in the log in place of an earlier one, and is not late. It
	// is not kept.
	InPlace bool
	// Key and Value may be nil, which is not the same as empty.
	Key, Value []byte
	Headers    []Header
}

// Parts are all that the record holds beside its key: the value, and the keys and values
// of its headers.
func (o Origin) Parts() [][]byte {
	parts := [][]byte{o.Value}
	for _, h := range o.Headers {
		parts = append(parts, []byte(h.Key), h.Value)
	}
	return parts
}

// Letter is what has to be said in the dead letters: that a record was refused, or,
// if Withdrawn, that one which was is part of its graph now, and its dead letter has to be
// deleted. Of those that share a key, the letter of the latest timestep counts.
type Letter struct {
	Refusal
	Withdrawn bool
}

// Outcome is what became of a record.
type Outcome string

// The outcomes. An Accepted record is stored (a payment or label may still be
// refused when its timestep closes or settles, and taken again when what it refers
// to has come; a transaction may be refused when the number of features is known). A Duplicate changes nothing. A
// Suppressed record names an erased transaction and must be dropped without a
// copy. A Refused record has a Refusal and belongs in a dead letter.
const (
	Accepted   Outcome = "accepted"
	Duplicate  Outcome = "duplicate"
	Suppressed Outcome = "suppressed"
	Refused    Outcome = "refused"
)

// Verdict is the outcome and, if it is Refused, why.
type Verdict struct {
	Outcome Outcome
	Refusal *Refusal
	// Late says of a Suppressed record that it goes on account of a subject which it carries
	// itself: what it brings is not suppressed, nor is what else names that.
	Late bool
}

// The reasons of a Refusal: codes shared with package ingest.
const (
	ReasonLate               = "late"                // its timestep takes no more records
	ReasonTimestepJump       = "timestep_jump"       // its timestep is too far ahead of its partition
	ReasonTimestepConflict   = "timestep_conflict"   // the transaction is known in another timestep
	ReasonFeatureCount       = "feature_count"       // none, or another number than expected
	ReasonSelfLoop           = "self_loop"           // a payment to itself
	ReasonUnknownEndpoint    = "unknown_endpoint"    // a payment names a transaction not known up to its timestep
	ReasonCrossTimestep      = "cross_timestep"      // the transaction is of an earlier timestep
	ReasonTooManyWaiting     = "too_many_waiting"    // as many payments or labels wait for transactions as may
	ReasonTooManyOpen        = "too_many_open"       // as many timesteps are open as may be
	ReasonUnknownTransaction = "unknown_transaction" // a label for a transaction not known up to its timestep
)

// Refusal is a record that cannot be taken. Detail gives numbers, never an id
// or other content.
type Refusal struct {
	Origin Origin
	Reason string
	Detail string
}

func refuse(o Origin, reason, detail string) Verdict {
	return Verdict{Outcome: Refused, Refusal: &Refusal{Origin: o, Reason: reason, Detail: detail}}
}

// Info says how far a timestep is and how much it holds.
type Info struct {
	Timestep lethe.Timestep
	State    lethe.State
	// Revision is 0 while the timestep is open.
	Revision lethe.Revision
	// Nodes counts transactions.
	Nodes int
	// Payments counts the payments of the graph or, while the timestep is open,
	// those that are pending and were not refused.
	Payments int
	// Labels counts the labels that are pending and were not refused or, once the
	// timestep is settled, the transactions labelled licit or illicit.
	Labels int
	// Previous is the settled timestep before this one, or lethe.NoTimestep.
	Previous lethe.Timestep
	// Waiting counts the late records that wait to become part of a closed timestep.
	Waiting int
	// Reopened is the revision that late records, or a timestep that was inserted or
	// is gone before this one, gave it last; the first one at least. Revisions after
	// it are those of erasures.
	Reopened lethe.Revision
}

// describedBy returns the info with the revision and counts of the timestep's store.
func (i Info) describedBy(d closed.Description) Info {
	i.Revision, i.Nodes, i.Payments = d.Revision, d.Nodes, d.Payments
	if i.State == lethe.Settled {
		i.Labels = d.Labelled
	}
	return i
}

// known reports whether the timestep takes part in closing and settling. What
// only payments or labels name is judged with the next one that does.
func (i Info) known() bool { return i.State > lethe.Open || i.Nodes > 0 }

// empty reports whether there is nothing left to remember.
func (i Info) empty() bool { return !i.known() && i.Payments == 0 && i.Labels == 0 }

// Content is a closed or settled timestep.
type Content struct {
	Info Info
	// Snapshot has the labels once the timestep is settled; before, every label
	// is lethe.Unknown.
	Snapshot *lethe.Snapshot
	// Assignment holds each node's shard once the timestep is settled, else nil.
	Assignment []lethe.ShardID
}

func (i Info) encode() []byte {
	dst := append([]byte{}, byte(i.State))
	dst = binary.BigEndian.AppendUint32(dst, uint32(i.Revision))
	dst = binary.BigEndian.AppendUint64(dst, uint64(i.Nodes))
	dst = binary.BigEndian.AppendUint64(dst, uint64(i.Payments))
	dst = binary.BigEndian.AppendUint64(dst, uint64(i.Labels))
	dst = binary.BigEndian.AppendUint64(dst, uint64(i.Previous))
	dst = binary.BigEndian.AppendUint64(dst, uint64(i.Waiting))
	return binary.BigEndian.AppendUint32(dst, uint32(i.Reopened))
}

func decodeInfo(t lethe.Timestep, value []byte) (Info, error) {
	c := stored.Over(value)
	i := Info{
		Timestep: t,
		State:    lethe.State(c.Uint8()),
		Revision: lethe.Revision(c.Uint32()),
		Nodes:    int(c.Uint64()),
		Payments: int(c.Uint64()),
		Labels:   int(c.Uint64()),
		Previous: lethe.Timestep(c.Uint64()),
	}
	if i.Reopened = min(i.Revision, 1); c.Left() > 0 { // version 1 ends here
		i.Waiting, i.Reopened = int(c.Uint64()), lethe.Revision(c.Uint32())
	}
	return i, c.Done("timestep")
}

// lettersAtOnce bounds what Letters holds in memory.
const lettersAtOnce = 10_000

// Letters returns what has to be said in the dead letters since, oldest first, again
// and again until ConfirmLetters: a caller that was killed before it had written them
// elsewhere finds them here. There may be more than are returned at once.
func (s *Store) Letters() ([]Letter, error) {
	var out []Letter
	err := s.staging.Scan([]byte{kindLetter}, func(_, value []byte) error {
		r, err := decodeLetter(value)
		if out = append(out, r.letter); err == nil && len(out) == lettersAtOnce {
			err = errStop
		}
		return err
	})
	if err != nil && !errors.Is(err, errStop) {
		return nil, fmt.Errorf("letters: %w", err)
	}
	return out, nil
}

// ConfirmLetters forgets the oldest letters, as many as Letters has returned.
func (s *Store) ConfirmLetters(count int) error {
	err := s.staging.Apply(func(w swapstore.Writer) error {
		err := s.staging.Scan([]byte{kindLetter}, func(key, _ []byte) error {
			if count--; count < 0 {
				return errStop
			}
			return w.Delete(key)
		})
		if errors.Is(err, errStop) {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("confirm %d letters: %w", count, err)
	}
	return nil
}

// nextLetter returns the number of the letter to be stored next.
func (s *staging) nextLetter() (number uint64, err error) {
	err = s.Scan([]byte{kindLetter}, func(key, _ []byte) error {
		if len(key) != 1+8 {
			return fmt.Errorf("%w: key of a letter has %d bytes", ErrCorrupt, len(key))
		}
		number = binary.BigEndian.Uint64(key[1:]) + 1
		return nil
	})
	return number, err
}
