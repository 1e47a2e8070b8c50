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

// DeadLetter returns the record under which a refused record is kept: original
// key, value, headers and time, and the why and where in headers lethe.dlq.*.
//
// Nothing in it depends on a clock, so a record that is delivered and refused
// twice gives the same dead letter twice. A record without a key is keyed by
// <topic>/<partition>/<offset>, and one without a value gets an empty one,
// because the topic of dead letters is compacted; the header lethe.dlq.null
// says which were absent. A label, or whatever has the key of a payment or of a control record, is keyed by
// ">!refused!<topic>><key>", so that it shares no key with a WaitingLetter. Of a record
// refused as Suppressed neither key, value nor headers are kept: the subject was erased.
//
// Of a record that is too large for the topic of dead letters a part of the value
// is kept. The header lethe.dlq.cut is there then: it names what was cut, with the
// length and the SHA-256 of the whole.
//
// version names the running program.
func DeadLetter(rec Record, refusal *Refusal, version string) Outgoing {
	return deadLetter(rec, finalKey(rec), refusal, refusal.Reason.Disposition(), version)
}

// WaitingLetter is DeadLetter of a payment or label that was taken and waits for what it
// refers to: WithdrawnLetter deletes it. A label is keyed by ">!<topic>><key>".
func WaitingLetter(rec Record, refusal *Refusal, version string) Outgoing {
	return deadLetter(rec, waitingKey(rec), refusal, refusal.Reason.Disposition(), version)
}

// WithheldLetter is DeadLetter without the record's key, value and headers,
// whatever the reason is: refused requests for erasure hold ids that must not be kept.
func WithheldLetter(rec Record, refusal *Refusal, version string) Outgoing {
	return deadLetter(rec, nil, refusal, Withheld, version)
}

// deadLetter gives a record that has a key, and may keep it, the key of its letter.
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

// foreign leaves out the headers of an earlier dead letter, and its code: one that is sent again
// and refused again is told by its newest refusal only.
func foreign(headers []Header) []Header {
	var out []Header
	for _, h := range headers {
		if h.Key != CodeHeader && !strings.HasPrefix(h.Key, deadPrefix) {
			out = append(out, h)
		}
	}
	return out
}

// placeKey is the key of the dead letter of a record without one.
func placeKey(rec Record) []byte {
	return fmt.Appendf(nil, "%s/%d/%d", rec.Topic, rec.Partition, rec.Offset)
}

// labelsTopic ends the name of the topic of labels.
const labelsTopic = "labels.v1"

// waitingKey is the key of the dead letter of a record that waits. A label has the key of
// its transaction, but not one dead letter with it: of theirs the key begins with ">!", the
// topic and ">". No id begins with "!", so that the parts between ">" are still ids.
func waitingKey(rec Record) []byte {
	if !strings.HasSuffix(rec.Topic, labelsTopic) {
		return rec.Key
	}
	return append([]byte(waitingPrefix+rec.Topic+">"), rec.Key...)
}

// waitingPrefix begins keys of waitingKey.
const waitingPrefix = ">!"

// refusedPrefix begins keys of finalKey.
const refusedPrefix = ">!refused!"

// finalKey is the key of the dead letter of a record that was refused when it was read.
// Where one that waits may have the same key, that of its letter is another: whether the
// one is written over or deleted must not depend on what becomes of the other. Nor may it
// have that of a marker, which would take its place, or look like one.
func finalKey(rec Record) []byte {
	control := bytes.HasPrefix(rec.Key, []byte(controlPrefix))
	if !control && !strings.HasSuffix(rec.Topic, labelsTopic) && !bytes.Contains(rec.Key, []byte(">")) {
		return rec.Key
	}
	return append([]byte(refusedPrefix+rec.Topic+">"), rec.Key...)
}

// WithdrawnLetter returns the record that deletes the WaitingLetter of a record which
// was taken after all.
func WithdrawnLetter(rec Record) Outgoing {
	if rec.Key == nil {
		return Outgoing{Key: placeKey(rec)}
	}
	return Outgoing{Key: waitingKey(rec)}
}
