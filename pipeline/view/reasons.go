package view

import (
	"lethe"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/scoring/reasons"
)

// takeReasons stores the reasons of alerts as they are published, or removes those that were
// withdrawn. What names something that is being erased is left out: it is made anew without it.
func (l *logic) takeReasons(batch bus.Batch) error {
	records := newest(batch.Records)
	if len(records) == 0 {
		return nil
	}
	err := l.store.Apply(func(w swapstore.Writer) error {
		for _, rec := range records {
			n := nameOfID(l.o.Secret, lethe.TransactionID(rec.Key))
			key := keyOf(reasonsPrefix, n)
			gone := rec.Tombstone() || l.hidden.isPurged(n) || l.namesErased(rec.Value)
			if !gone {
				if r, err := reasons.Decode(rec.Value); err != nil || string(r.Transaction) != string(rec.Key) {
					l.passOver(bus.Reasons, rec)
					continue
				}
			}
			if err := setOrDelete(w, key, rec.Value, gone); err != nil {
				return err
			}
		}
		return setOffset(w, batch.Source, batch.Next)
	})
	if err == nil {
		l.feed.tell(Alerts)
	}
	return err
}
