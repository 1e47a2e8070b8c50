package worlds

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

// topics are those in memory; what the roles write counts as writes of the process.
type topics struct {
	*roletest.Bus
	disk *disk
	log  *log
}

// Write implements role.Bus.
func (t topics) Write(ctx context.Context, topic bus.Topic, records []ingest.Outgoing) error {
	t.disk.mu.Lock()
	defer t.disk.mu.Unlock()
	sum := fnv.New64a()
	for _, rec := range records {
		fmt.Fprintf(sum, "%q", rec.Key)
		home, routed := wire.RecordTopic(rec.Key, rec.Value), topic == bus.Control || topic == bus.ErasureStatus
		if routed && home != topic {
			return fmt.Errorf("a record %q on %s belongs on %s", rec.Key, topic, home)
		}
		if bytes.HasPrefix(rec.Key, []byte("ack/")) && len(rec.Value) > 0 && !bytes.Contains(rec.Value, []byte(`"run":"`)) {
			return fmt.Errorf("%s does not tell of which process it is", rec.Key)
		}
		switch topic {
		case bus.Control, bus.ErasureStatus, bus.Receipts, bus.Log:
			// These say how many files were searched, which Pebble may remove a moment
			// later, or have the digest of a receipt that says it.
		default:
			sum.Write(rec.Value)
		}
	}
	t.disk.write(fmt.Sprintf("publish %d to %s: %x", len(records), topic, sum.Sum64()), nil)
	if err := t.log.note(topic, records); err != nil {
		return err
	}
	if err := t.Bus.Write(ctx, topic, records); err != nil {
		return err
	}
	return t.log.witness.look(ctx, t.Bus, topic, t.log, t.disk)
}
