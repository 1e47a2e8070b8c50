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

// takePredictions stores or removes the newest predictions of a batch.
func (l *logic) takePredictions(batch bus.Batch) error {
	records := newest(batch.Records)
	if len(records) == 0 {
		return nil
	}
	names, before, err := predictionsOf(l, records)
	if err != nil {
		return err
	}
	changed := make(changedCounts)
	err = l.applyRecord(batch.Source, batch.Next, func(w swapstore.Writer) error {
		for i, rec := range records {
			after, err := predictionIn(l, rec, names[i])
			if err != nil {
				l.passOver(bus.Predictions, rec)
				continue
			}
			if err := l.replacePrediction(w, changed, names[i], before[i], after); err != nil {
				return err
			}
		}
		return changed.write(w)
	})
	if err == nil {
		l.keep(changed)
		l.feed.notify(Predictions)
	}
	return err
}

// predictionIn reads a record; nil for a tombstone or an erased transaction.
func predictionIn(l *logic, rec ingest.Record, n name) (*scoring.Prediction, error) {
	if rec.Tombstone() || l.hidden.isPurged(n) {
		return nil, nil //nolint:nilnil // there is none
	}
	p, err := scoring.DecodePrediction(rec.Value)
	if err == nil && string(ingest.TransactionKey(p.Transaction)) != string(rec.Key) {
		err = errors.New("the key is another transaction's")
	}
	return p, err
}

// predictionsOf returns the stored predictions of some records' transactions.
func predictionsOf(l *logic, records []ingest.Record) (names []name, before []*scoring.Prediction, err error) {
	names = make([]name, len(records))
	namer := newNamer(l.o.Secret)
	for i, rec := range records {
		names[i] = namer.ofID(lethe.TransactionID(rec.Key))
	}
	before, err = readPredictions(l.store, names...)
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

// replacePrediction replaces a prediction; either may be nil.
func (l *logic) replacePrediction(
	w swapstore.Writer, changed changedCounts, n name, before, after *scoring.Prediction,
) error {
	for _, p := range []*scoring.Prediction{before, after} {
		if p == nil || !p.Final {
			continue
		}
		l.quality.due(w, p.Timestep)
	}
	if before != nil {
		count(l, changed, before, -1)
		for _, key := range rankKeys(n, before.Timestep, before.Probability, isAlert(before)) {
			w.Delete(key)
		}
	}
	key := keyOf(predictionPrefix, n)
	if after == nil {
		if before != nil {
			w.Delete(key)
		}
		return nil
	}
	value, err := encodePrediction(after)
	if err != nil {
		return err
	}
	w.Set(key, value)
	count(l, changed, after, 1)
	for _, key := range rankKeys(n, after.Timestep, after.Probability, isAlert(after)) {
		w.Set(key, nil)
	}
	return nil
}

// takeReasons stores or removes reasons. Those that name something being erased are left out, and will be published
// again without.
func (l *logic) takeReasons(batch bus.Batch) error {
	records := newest(batch.Records)
	if len(records) == 0 {
		return nil
	}
	namer := newNamer(l.o.Secret)
	err := l.applyRecord(batch.Source, batch.Next, func(w swapstore.Writer) error {
		for _, rec := range records {
			n := namer.ofID(lethe.TransactionID(rec.Key))
			key := keyOf(reasonsPrefix, n)
			gone := rec.Tombstone() || l.hidden.isPurged(n) || l.namesErased(rec.Value)
			if !gone {
				if r, err := reasons.Decode(rec.Value); err != nil || string(r.Transaction) != string(rec.Key) {
					l.passOver(bus.Reasons, rec)
					continue
				}
			}
			setOrDelete(w, key, rec.Value, gone)
		}
		return nil
	})
	if err == nil {
		l.feed.notify(Alerts)
	}
	return err
}
