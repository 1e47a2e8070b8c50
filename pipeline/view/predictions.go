package view

import (
	"errors"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/scoring"
	"lethe/scoring/reasons"
)

// assessments stores predictions and their reasons.
type assessments struct {
	*state
	erasing  *erasing
	passOver func(topic bus.Topic, rec ingest.Record)
}

// takePredictions stores or removes the newest predictions of a batch.
func (a *assessments) takePredictions(batch bus.Batch) error {
	records := newest(batch.Records)
	if len(records) == 0 {
		return nil
	}
	names, before, err := a.stored(records)
	if err != nil {
		return err
	}
	changed := make(changedCounts)
	err = a.applyRecord(batch.Source, batch.Next, func(w swapstore.Writer) error {
		for i, rec := range records {
			after, err := a.read(rec, names[i])
			if err != nil {
				a.passOver(bus.Predictions, rec)
				continue
			}
			if err := a.replacePrediction(w, changed, names[i], before[i], after); err != nil {
				return err
			}
		}
		return changed.write(w)
	})
	if err == nil {
		a.keep(changed)
		a.feed.notify(Predictions)
	}
	return err
}

// read reads a record; nil for a tombstone or an erased transaction.
func (a *assessments) read(rec ingest.Record, n name) (*scoring.Prediction, error) {
	if rec.Tombstone() || a.hidden.isPurged(n) {
		return nil, nil //nolint:nilnil // there is none
	}
	p, err := scoring.DecodePrediction(rec.Value)
	if err == nil && string(ingest.TransactionKey(p.Transaction)) != string(rec.Key) {
		err = errors.New("the key is another transaction's")
	}
	return p, err
}

// stored returns the stored predictions of some records' transactions.
func (a *assessments) stored(records []ingest.Record) (names []name, before []*scoring.Prediction, err error) {
	names = make([]name, len(records))
	namer := newNamer(a.secret)
	for i, rec := range records {
		names[i] = namer.ofID(lethe.TransactionID(rec.Key))
	}
	before, err = readPredictions(a.store, names...)
	return names, before, err
}

// readPredictions reads predictions; nil for none.
func readPredictions(store *swapstore.Store, names ...name) ([]*scoring.Prediction, error) {
	found, err := store.Lookup(keysOf(predictionPrefix, names))
	if err != nil {
		return nil, err
	}
	out := make([]*scoring.Prediction, len(names))
	for i, f := range found {
		if f.Found {
			if out[i], err = decodePrediction(f.Value); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// takeReasons stores or removes reasons. Those that name something being erased are left out, and will be published
// again without.
func (a *assessments) takeReasons(batch bus.Batch) error {
	records := newest(batch.Records)
	if len(records) == 0 {
		return nil
	}
	namer := newNamer(a.secret)
	err := a.applyRecord(batch.Source, batch.Next, func(w swapstore.Writer) error {
		for _, rec := range records {
			n := namer.ofID(lethe.TransactionID(rec.Key))
			key := keyOf(reasonsPrefix, n)
			gone := rec.Tombstone() || a.hidden.isPurged(n) || a.erasing.namesErased(rec.Value)
			if !gone {
				if r, err := reasons.Decode(rec.Value); err != nil || string(r.Transaction) != string(rec.Key) {
					a.passOver(bus.Reasons, rec)
					continue
				}
			}
			setOrDelete(w, key, rec.Value, gone)
		}
		return nil
	})
	if err == nil {
		a.feed.notify(Alerts)
	}
	return err
}
