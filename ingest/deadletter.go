package ingest

import (
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
)

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
