package ingest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ErrNotDeadLetter marks a record whose headers are not those of DeadLetter.
// The caller should leave the record alone.
var ErrNotDeadLetter = errors.New("not a dead letter")

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
)

// Letter is a dead letter that was read back.
type Letter struct {
	// Record is the original record. Key and value are nil if Withheld.
	Record      Record
	Refusal     Refusal
	Disposition Disposition
	// Version is that of the program that refused the record.
	Version string
}

// DeadLetter returns the record under which a refused record is kept: original
// key, value, headers and time, and the why and where in headers lethe.dlq.*.
//
// Nothing in it depends on a clock, so a record that is delivered and refused
// twice gives the same dead letter twice. A record without a key is keyed by
// <topic>/<partition>/<offset>, and one without a value gets an empty one,
// because the topic of dead letters is compacted; the header lethe.dlq.null
// says which were absent. Of a record refused as Suppressed neither key, value
// nor headers are kept: the subject was erased.
//
// version names the running program.
func DeadLetter(rec Record, refusal *Refusal, version string) Outgoing {
	disposition := refusal.Reason.Disposition()
	out := Outgoing{Key: rec.Key, Value: rec.Value, Time: rec.Time}
	if disposition == Withheld {
		out.Key, out.Value = nil, nil
	} else {
		for _, h := range rec.Headers {
			// A replayed dead letter that is refused again is told by its
			// newest refusal only.
			if !strings.HasPrefix(h.Key, deadPrefix) {
				out.Headers = append(out.Headers, h)
			}
		}
	}
	var null []string
	if out.Key == nil {
		null = append(null, "key")
		out.Key = fmt.Appendf(nil, "%s/%d/%d", rec.Topic, rec.Partition, rec.Offset)
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
	return out
}

// ParseDeadLetter reads a dead letter back. The error is ErrNotDeadLetter.
func ParseDeadLetter(rec Record) (Letter, error) {
	letter := Letter{Record: Record{Key: rec.Key, Value: rec.Value}}
	found := map[string]string{}
	for _, h := range rec.Headers {
		if strings.HasPrefix(h.Key, deadPrefix) {
			found[h.Key] = string(h.Value)
		} else {
			letter.Record.Headers = append(letter.Record.Headers, h)
		}
	}
	letter.Refusal = Refusal{Reason(found[deadReason]), found[deadDetail]}
	letter.Disposition = Disposition(found[deadDisposition])
	letter.Version = found[deadVersion]
	letter.Record.Topic = found[deadTopic]
	var err, problems error
	if letter.Refusal.Reason == "" || letter.Record.Topic == "" {
		problems = errors.New("no reason or no topic")
	}
	if letter.Record.Partition, err = strconv.Atoi(found[deadPartition]); err != nil {
		problems = errors.Join(problems, errors.New("partition is not a number"))
	}
	if letter.Record.Offset, err = strconv.ParseInt(found[deadOffset], 10, 64); err != nil {
		problems = errors.Join(problems, errors.New("offset is not a number"))
	}
	if at := found[deadTime]; at != "" {
		if letter.Record.Time, err = time.Parse(time.RFC3339Nano, at); err != nil {
			problems = errors.Join(problems, errors.New("time is not RFC 3339"))
		}
	}
	if problems != nil {
		return Letter{}, fmt.Errorf("%s/%d@%d: %w: %w", rec.Topic, rec.Partition, rec.Offset, ErrNotDeadLetter, problems)
	}
	for part := range strings.SplitSeq(found[deadNull], ",") {
		switch part {
		case "key":
			letter.Record.Key = nil
		case "value":
			letter.Record.Value = nil
		}
	}
	return letter, nil
}
