package ingest

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	deadPrefix      = "lethe.dlq."
	deadReason      = deadPrefix + "reason"
	deadDetail      = deadPrefix + "detail"
	deadTopic       = deadPrefix + "topic"
	deadPartition   = deadPrefix + "partition"
	deadOffset      = deadPrefix + "offset"
	deadTime        = deadPrefix + "time"
	deadVersion     = deadPrefix + "version"
	deadDisposition = deadPrefix + "disposition"
	deadNull        = deadPrefix + "null"
	deadCut         = deadPrefix + "cut"
	deadReplayed    = deadPrefix + "replayed"
)

// DeadLetter returns the dead letter of a rejected record: original key, value, headers and time,
// with the reason and the position in headers lethe.dlq.*.
//
// It does not depend on a clock, so a record that is delivered and rejected twice produces the same
// dead letter twice. A record without a key is keyed by <topic>/<partition>/<offset>, and one
// without a value gets an empty one, because the dead-letter topic is compacted; the header
// lethe.dlq.null lists what was absent. A label, or any record with the key of a payment or of a
// control record, is keyed by ">!refused!<topic>><key>", so that it shares no key with a
// WaitingLetter. A record rejected as Suppressed is stored without key, value and headers: the
// subject was erased.
//
// If the record is too large for the dead-letter topic, part of its value is stored. The header lethe.dlq.cut then
// describes the removed parts, with the length and the SHA-256 of the original.
//
// version is that of the running program.
func DeadLetter(rec Record, refusal *Refusal, version string) Outgoing {
	return deadLetter(rec, finalKey(rec), refusal, refusal.Reason.Disposition(), version)
}

// WaitingLetter is the dead letter of a payment or label that was accepted and waits for
// the transaction it refers to: WithdrawnLetter deletes it. A label is keyed by
// ">!<topic>><key>".
func WaitingLetter(rec Record, refusal *Refusal, version string) Outgoing {
	return deadLetter(rec, waitingKey(rec), refusal, refusal.Reason.Disposition(), version)
}

// WithheldLetter is DeadLetter without the record's key, value and headers, whatever the
// reason is: rejected erasure requests hold ids that must not be stored.
func WithheldLetter(rec Record, refusal *Refusal, version string) Outgoing {
	return deadLetter(rec, nil, refusal, Withheld, version)
}

// deadLetter builds a dead letter; key is used if the record has a key that may be
// stored.
func deadLetter(rec Record, key []byte, refusal *Refusal, disposition Disposition, version string) Outgoing {
	rec.Headers = foreign(rec.Headers)
	var missing string
	if disposition != Withheld {
		rec, missing = cut(rec)
	}
	out := Outgoing{Key: rec.Key, Value: rec.Value, Time: rec.Time}
	if disposition == Withheld {
		out.Key, out.Value = nil, nil
	} else {
		out.Headers = rec.Headers
	}
	var null []string
	if out.Key == nil {
		null = append(null, "key")
		out.Key = placeKey(rec)
	} else {
		out.Key = key
	}
	if out.Value == nil {
		null = append(null, "value")
		out.Value = []byte{}
	}
	var at string
	if !rec.Time.IsZero() {
		at = rec.Time.UTC().Format(time.RFC3339Nano)
	}
	for _, h := range [...][2]string{
		{deadReason, string(refusal.Reason)},
		{deadDetail, refusal.Detail},
		{deadTopic, rec.Topic},
		{deadPartition, strconv.Itoa(rec.Partition)},
		{deadOffset, strconv.FormatInt(rec.Offset, 10)},
		{deadTime, at},
		{deadVersion, version},
		{deadDisposition, string(disposition)},
		{deadNull, strings.Join(null, ",")},
	} {
		out.Headers = append(out.Headers, Header{h[0], []byte(h[1])})
	}
	if missing != "" {
		out.Headers = append(out.Headers, Header{deadCut, []byte(missing)})
	}
	return out
}

// foreign removes the headers and the code of a previous dead letter: a record that was replayed
// and rejected again is described by its latest refusal only.
func foreign(headers []Header) []Header {
	var out []Header
	for _, h := range headers {
		if h.Key != CodeHeader && !strings.HasPrefix(h.Key, deadPrefix) {
			out = append(out, h)
		}
	}
	return out
}

// placeKey is the key of the dead letter of a record without a key: its position.
func placeKey(rec Record) []byte {
	return fmt.Appendf(nil, "%s/%d/%d", rec.Topic, rec.Partition, rec.Offset)
}

// labelsTopic is the suffix of the labels topic's name.
const labelsTopic = "labels.v1"

// waitingKey is the key of the dead letter of a waiting record. A label has the same key as
// its transaction, but must not share a dead letter with it: the key of its dead letter
// begins with ">!", the topic and ">". No id begins with "!", so the parts between ">" are
// still ids.
func waitingKey(rec Record) []byte {
	if !strings.HasSuffix(rec.Topic, labelsTopic) {
		return rec.Key
	}
	return append([]byte(waitingPrefix+rec.Topic+">"), rec.Key...)
}

// waitingPrefix begins the keys made by waitingKey.
const waitingPrefix = ">!"

// refusedPrefix begins the keys made by finalKey.
const refusedPrefix = ">!refused!"

// finalKey is the key of the dead letter of a record that was rejected when it was read.
// It differs from the key of any waiting record's dead letter, so that overwriting or
// deleting one never affects the other. It also differs from the key of a marker, which
// would overwrite it.
func finalKey(rec Record) []byte {
	control := bytes.HasPrefix(rec.Key, []byte(controlPrefix))
	if !control && !strings.HasSuffix(rec.Topic, labelsTopic) && !bytes.Contains(rec.Key, []byte(">")) {
		return rec.Key
	}
	return append([]byte(refusedPrefix+rec.Topic+">"), rec.Key...)
}

// WithdrawnLetter returns the tombstone of the WaitingLetter of a record that was
// accepted later.
func WithdrawnLetter(rec Record) Outgoing {
	if rec.Key == nil {
		return Outgoing{Key: placeKey(rec)}
	}
	return Outgoing{Key: waitingKey(rec)}
}
