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

// ErrNotDeadLetter marks a record whose headers are not those of DeadLetter. The caller
// should leave the record alone.
var ErrNotDeadLetter = errors.New("not a dead letter")

// ErrNotReplayable marks a dead letter whose record cannot be sent again. The error says why.
var ErrNotReplayable = errors.New("the record cannot be sent again")

// Letter is a dead letter as it is read back.
type Letter struct {
	// Record is the refused record, with its place. Key and value are nil where the letter
	// does not have them.
	Record      Record
	Refusal     Refusal
	Disposition Disposition
	// Version is that of the program that refused the record.
	Version string
	// Cut names the parts of the record that are not here whole, with length and SHA-256.
	Cut string
	// Replayed is when the record was sent again, zero if it was not: of the letter's mark, see ReadMark.
	Replayed time.Time
	// Waits says that the record was taken and waits for what it names: the letter goes by
	// itself when that comes.
	Waits bool
	// Stands says that the record waits, or has come to stand in a timestep that it does not belong to:
	// the letter goes by itself when that is so no more.
	Stands bool
}

// ReadDeadLetter reads a dead letter back. The error is ErrNotDeadLetter.
func ReadDeadLetter(rec Record) (Letter, error) {
	told := make(map[string]string)
	for _, h := range rec.Headers {
		if strings.HasPrefix(h.Key, deadPrefix) {
			told[h.Key] = string(h.Value)
		}
	}
	out := Letter{
		Record:      Record{Topic: told[deadTopic], Key: rec.Key, Value: rec.Value, Headers: foreign(rec.Headers)},
		Refusal:     Refusal{Reason: Reason(told[deadReason]), Detail: told[deadDetail]},
		Disposition: Disposition(told[deadDisposition]), Version: told[deadVersion], Cut: told[deadCut],
	}
	var problems []error
	if out.Refusal.Reason == "" || out.Record.Topic == "" {
		problems = append(problems, errors.New("no reason or no topic"))
	}
	note := func(err error) { problems = append(problems, err) }
	var err error
	if out.Record.Partition, err = strconv.Atoi(told[deadPartition]); err != nil {
		note(errors.New("the partition is no number"))
	}
	if out.Record.Offset, err = strconv.ParseInt(told[deadOffset], 10, 64); err != nil {
		note(errors.New("the offset is no number"))
	}
	if at := told[deadTime]; at != "" {
		if out.Record.Time, err = time.Parse(time.RFC3339Nano, at); err != nil {
			note(errors.New("a time is not as RFC 3339 has it"))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return Letter{}, fmt.Errorf("%s/%d@%d: %w: %w", rec.Topic, rec.Partition, rec.Offset, ErrNotDeadLetter, err)
	}
	out.restoreKey(strings.Split(told[deadNull], ","))
	return out, nil
}

// restoreKey gives the record the key and the value that it had.
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
	// Of payments only one that waits has its own key.
	l.Waits = !isRefused && (reason == UnknownEndpoint || reason == UnknownTransaction)
	l.Stands = l.Waits || !isRefused && reason == CrossTimestep
	if slices.Contains(null, "key") {
		l.Record.Key = nil
	}
	if slices.Contains(null, "value") {
		l.Record.Value = nil
	}
}

// Again returns the record as it is sent again at a time, to the topic that it came from. It names the Mark of its
// letter, which has the place. The error is ErrNotReplayable with the reason.
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
	said := at.UTC().Format(time.RFC3339Nano) + " " + MarkOf(place)
	headers := append(slices.Clone(l.Record.Headers), Header{deadReplayed, []byte(said)})
	return Outgoing{Key: l.Record.Key, Value: l.Record.Value, Headers: headers, Time: l.Record.Time}, nil
}

// markPrefix begins keys of marks. No id begins with "!", see waitingKey.
const markPrefix = ">!replayed!"

// MarkOf names a dead letter, by the place of its record, in what is said of it when that is sent again. An id that is
// a number would be found in the place itself.
func MarkOf(place string) string {
	sum := sha256.Sum256([]byte(place))
	return hex.EncodeToString(sum[:16])
}

// Mark returns the record of the topic of dead letters that says that the record of a letter was sent again at a time.
// It holds nothing of the letter: that may be withdrawn, or without some features, since it was read.
func Mark(place string, at time.Time) Outgoing {
	return Outgoing{Key: []byte(markPrefix + MarkOf(place)), Value: []byte(at.UTC().Format(time.RFC3339Nano))}
}

// ReadMark returns which letter a record of the topic of dead letters is the mark of, see MarkOf, and when that one's
// record was sent again; the time is zero if the record deletes the mark. is is false for every other record.
func ReadMark(rec Record) (mark string, at time.Time, is bool) {
	mark, is = strings.CutPrefix(string(rec.Key), markPrefix)
	if !is || rec.Tombstone() {
		return mark, at, is
	}
	at, err := time.Parse(time.RFC3339Nano, string(rec.Value))
	return mark, at, err == nil
}

// Answered returns what deletes the Mark of the letter of a record that was sent again, whatever became of that, and
// the DeadLetter itself if the record was not refused again. Nothing follows from one that was not sent again.
func Answered(rec Record, refused bool) (out []Outgoing) {
	said, again := sentAgain(rec)
	if again && !refused && rec.Key != nil {
		out = append(out, Outgoing{Key: finalKey(rec)})
	}
	if _, mark, tells := strings.Cut(said, " "); tells && len(mark) == len(MarkOf("")) {
		out = append(out, Outgoing{Key: []byte(markPrefix + mark)})
	}
	return out
}

// sentAgain returns what a record says that was sent again.
func sentAgain(rec Record) (said string, again bool) {
	for _, h := range rec.Headers {
		if h.Key == deadReplayed {
			return string(h.Value), true
		}
	}
	return "", false
}
