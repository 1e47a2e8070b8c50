package ingest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrNotDeadLetter marks a record without the headers of a DeadLetter. The caller should
// leave the record unchanged.
var ErrNotDeadLetter = errors.New("not a dead letter")

// ErrNotReplayable marks a dead letter whose record cannot be replayed. The error gives the
// reason.
var ErrNotReplayable = errors.New("the record cannot be sent again")

// Letter is a decoded dead letter.
type Letter struct {
	// Record is the rejected record, with its position. Key and value are nil if the
	// dead letter does not store them.
	Record      Record
	Refusal     Refusal
	Disposition Disposition
	// Version is the version of the program that rejected the record.
	Version string
	// Cut lists the parts of the record that are not stored whole, with length and
	// SHA-256.
	Cut string
	// Replayed is when the record was replayed, zero if it was not. It comes from the dead
	// letter's mark, see ReadMark.
	Replayed time.Time
	// Waits means that the record was accepted and waits for the transaction it names:
	// the dead letter is deleted when that arrives.
	Waits bool
}

// ReadDeadLetter decodes a dead letter. The error is ErrNotDeadLetter.
func ReadDeadLetter(rec Record) (Letter, error) {
	fields := make(map[string]string)
	for _, h := range rec.Headers {
		if strings.HasPrefix(h.Key, deadPrefix) {
			fields[h.Key] = string(h.Value)
		}
	}
	out := Letter{
		Record:      Record{Topic: fields[deadTopic], Key: rec.Key, Value: rec.Value, Headers: foreign(rec.Headers)},
		Refusal:     Refusal{Reason: Reason(fields[deadReason]), Detail: fields[deadDetail]},
		Disposition: Disposition(fields[deadDisposition]), Version: fields[deadVersion], Cut: fields[deadCut],
	}
	var problems []error
	if out.Refusal.Reason == "" || out.Record.Topic == "" {
		problems = append(problems, errors.New("no reason or no topic"))
	}
	note := func(err error) { problems = append(problems, err) }
	var err error
	if out.Record.Partition, err = strconv.Atoi(fields[deadPartition]); err != nil {
		note(errors.New("the partition is no number"))
	}
	if out.Record.Offset, err = strconv.ParseInt(fields[deadOffset], 10, 64); err != nil {
		note(errors.New("the offset is no number"))
	}
	if at := fields[deadTime]; at != "" {
		if out.Record.Time, err = time.Parse(time.RFC3339Nano, at); err != nil {
			note(errors.New("a time is not as RFC 3339 has it"))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return Letter{}, fmt.Errorf("%s/%d@%d: %w: %w", rec.Topic, rec.Partition, rec.Offset, ErrNotDeadLetter, err)
	}
	out.restoreKey(strings.Split(fields[deadNull], ","))
	return out, nil
}

// restoreKey restores the original key and value of the record.
func (l *Letter) restoreKey(null []string) {
	topic, reason := l.Record.Topic, l.Refusal.Reason
	refused, isRefused := bytes.CutPrefix(l.Record.Key, []byte(refusedPrefix+topic+">"))
	waiting, isWaiting := bytes.CutPrefix(l.Record.Key, []byte(waitingPrefix+topic+">"))
	switch {
	case isRefused:
		l.Record.Key = refused
	case isWaiting:
		l.Record.Key = waiting
	}
	// The dead letter of a payment has the payment's own key only if the payment waits.
	l.Waits = !isRefused && (reason == UnknownEndpoint || reason == UnknownTransaction)
	if slices.Contains(null, "key") {
		l.Record.Key = nil
	}
	if slices.Contains(null, "value") {
		l.Record.Value = nil
	}
}

// Again returns the record to replay to its original topic, with the given time. It carries the
// Mark of its dead letter, which is at place. The error is ErrNotReplayable with the reason.
func (l Letter) Again(place string, at time.Time) (Outgoing, error) {
	why := ""
	switch {
	case l.Disposition == Withheld:
		why = "nothing of it is kept"
	case l.Cut != "":
		why = "only a part of it is kept"
	case l.Waits:
		why = "it waits and is taken by itself when what it names comes"
	case l.Record.Key == nil:
		why = "it has no key, and a compacted topic takes no record without one"
	case l.Record.Value == nil:
		why = "it has no value: it would delete what its key has"
	}
	if why != "" {
		return Outgoing{}, fmt.Errorf("%w: %s", ErrNotReplayable, why)
	}
	header := at.UTC().Format(time.RFC3339Nano) + " " + MarkOf(place)
	headers := append(slices.Clone(l.Record.Headers), Header{deadReplayed, []byte(header)})
	return Outgoing{Key: l.Record.Key, Value: l.Record.Value, Headers: headers, Time: l.Record.Time}, nil
}

// markPrefix begins the keys of marks. No id begins with "!", see waitingKey.
const markPrefix = ">!replayed!"

// MarkOf returns the name of a dead letter in marks and replayed records: a digest of its record's
// position. The position itself is not used because an id that is a number could be found in it.
func MarkOf(place string) string {
	sum := sha256.Sum256([]byte(place))
	return hex.EncodeToString(sum[:16])
}

// Mark returns the record, for the dead-letter topic, that marks the record of a dead letter as
// replayed at a time. It holds no content of the dead letter, which may have been withdrawn or
// redacted since it was read.
func Mark(place string, at time.Time) Outgoing {
	return Outgoing{Key: []byte(markPrefix + MarkOf(place)), Value: []byte(at.UTC().Format(time.RFC3339Nano))}
}

// ReadMark returns the dead letter that a mark belongs to, see MarkOf, and when its record was
// replayed; the time is zero if the record deletes the mark. is is false for every other record.
func ReadMark(rec Record) (mark string, at time.Time, is bool) {
	mark, is = strings.CutPrefix(string(rec.Key), markPrefix)
	if !is || rec.Tombstone() {
		return mark, at, is
	}
	at, err := time.Parse(time.RFC3339Nano, string(rec.Value))
	return mark, at, err == nil
}

// Answered returns the tombstones after a replayed record was processed: of its Mark, and of the
// DeadLetter itself unless the record was rejected again. It returns nothing for a record that was
// not replayed.
func Answered(rec Record, refused bool) (out []Outgoing) {
	header, again := sentAgain(rec)
	if again && !refused && rec.Key != nil {
		out = append(out, Outgoing{Key: finalKey(rec)})
	}
	if _, mark, found := strings.Cut(header, " "); found && len(mark) == len(MarkOf("")) {
		out = append(out, Outgoing{Key: []byte(markPrefix + mark)})
	}
	return out
}

// sentAgain returns the mark that a replayed record carries.
func sentAgain(rec Record) (header string, again bool) {
	for _, h := range rec.Headers {
		if h.Key == deadReplayed {
			return string(h.Value), true
		}
	}
	return "", false
}
