package wire

import (
	"context"
	"strings"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// Home returns the topic that a record belongs on which lethe's processes write of erasures, of
// themselves or of each other. erasure-status.v1 has what whoever asks for erasures is told: where
// requests and holds stand, why a signed record was not taken, and how many must sign. All else is
// on control.v1, which users neither read nor need.
func Home(key, value []byte) bus.Topic {
	switch k := string(key); {
	case deletions.IsHoldKey(k), k == refusedKey, k == settingsPrefix+Requests:
		return bus.ErasureStatus
	case strings.HasPrefix(k, "!"):
		return bus.Control
	case strings.HasPrefix(k, ackPrefix), strings.HasPrefix(k, commandPrefix):
		if !isStatus(value) { // a request may be called as what begins the other keys
			return bus.Control
		}
	}
	return bus.ErasureStatus
}

// Say writes records each to its Home: those of control.v1 first, for they are what a process goes
// on from, so that nobody is told what would be forgotten.
func Say(ctx context.Context, p Publisher, records []ingest.Outgoing) error {
	for _, topic := range []bus.Topic{bus.Control, bus.ErasureStatus} {
		var own []ingest.Outgoing
		for _, rec := range records {
			if Home(rec.Key, rec.Value) == topic {
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
