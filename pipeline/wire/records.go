package wire

import (
	"context"
	"strings"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// RecordTopic returns the topic of a record about erasures or processes. erasure-status.v1 is for requesters: states of
// requests and holds, reasons for rejected records, and how many people must sign. control.v1, which users do not
// read, has all other records.
func RecordTopic(key, value []byte) bus.Topic {
	switch k := string(key); {
	case deletions.IsHoldKey(k), k == refusedKey, k == settingsPrefix+Requests:
		return bus.ErasureStatus
	case strings.HasPrefix(k, "!"):
		return bus.Control
	case strings.HasPrefix(k, ackPrefix), strings.HasPrefix(k, commandPrefix):
		if !isStatus(value) { // a request id may look like another key
			return bus.Control
		}
	}
	return bus.ErasureStatus
}

// PublishRecords writes records to their topics: those of control.v1 first, from which a process resumes, so that no
// published status can be lost.
func PublishRecords(ctx context.Context, p Publisher, records []ingest.Outgoing) error {
	for _, topic := range []bus.Topic{bus.Control, bus.ErasureStatus} {
		var own []ingest.Outgoing
		for _, rec := range records {
			if RecordTopic(rec.Key, rec.Value) == topic {
				own = append(own, rec)
			}
		}
		if len(own) == 0 {
			continue
		}
		if err := p.Write(ctx, topic, own); err != nil {
			return err
		}
	}
	return nil
}
