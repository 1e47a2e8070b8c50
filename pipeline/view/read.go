package view

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"lethe"
	"lethe/internal/normalise"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/scoring"
	"lethe/scoring/reasons"
)

// Reader answers queries. It is safe for concurrent use and returns swapstore.ErrClosed after the role is closed.
type Reader struct {
	store  *swapstore.Store
	secret lethe.Secret
	names  normalise.Rule
	hidden *hidden
	feed   *Feed
	models *models
}

// Feed notifies of changes.
func (r *Reader) Feed() *Feed { return r.feed }

// errEnough ends a full page.
var errEnough = errors.New("the page is full")

// ErrCursor means that no page ended there. Begin with the first.
var ErrCursor = errors.New("not the cursor of a page")

// Ref is a keyed hash that represents a transaction where its id must not appear, as in addresses.
type Ref lethe.Digest

// String returns the reference in hexadecimal.
func (f Ref) String() string { return lethe.Digest(f).String() }

// MarshalText implements encoding.TextMarshaler.
func (f Ref) MarshalText() ([]byte, error) { return lethe.Digest(f).MarshalText() }

// UnmarshalText implements encoding.TextUnmarshaler.
func (f *Ref) UnmarshalText(text []byte) error { return (*lethe.Digest)(f).UnmarshalText(text) }

// RefOf returns a transaction's reference, known or not.
func (r *Reader) RefOf(id lethe.TransactionID) Ref {
	return Ref(nameOfID(r.secret, r.NameOf(string(id))))
}

// NameOf returns the normal form of an id.
func (r *Reader) NameOf(id string) lethe.TransactionID { return lethe.TransactionID(r.names.Name(id)) }

// Prediction returns a transaction's newest prediction, or nil.
func (r *Reader) Prediction(of Ref) (*scoring.Prediction, error) {
	n := name(of)
	if r.hidden.is(n) {
		return nil, nil //nolint:nilnil // there is none
	}
	found, err := readPredictions(r.store, n)
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// Query selects predictions by descending probability.
type Query struct {
	// Timestep may be nil.
	Timestep *lethe.Timestep
	// Alerts selects class illicit.
	Alerts bool
	// Least and Most bound the probability, inclusively.
	Least, Most float64
	// After is where the previous page ended, or nil.
	After []byte
	Limit int
}

// prefix is the query's index.
func (q Query) prefix() []byte {
	switch {
	case q.Timestep == nil && q.Alerts:
		return []byte(alertIndex)
	case q.Timestep == nil:
		return []byte(scoreIndex)
	case q.Alerts:
		return timestepkey.New(stepAlertIndex, *q.Timestep)
	default:
		return timestepkey.New(stepIndex, *q.Timestep)
	}
}

// from is the page's first key.
func (q Query) from(prefix []byte) ([]byte, error) {
	from := append([]byte{}, prefix...)
	if q.After == nil {
		return binary.BigEndian.AppendUint64(from, ^math.Float64bits(min(1, max(0, q.Most)))), nil
	}
	if len(q.After) != rankBytes {
		return nil, ErrCursor
	}
	return append(append(from, q.After...), 0), nil
}

// Predictions returns a page and where it ended, nil for the last. Errors: ErrCursor, the store's.
func (r *Reader) Predictions(q Query) (list []*scoring.Prediction, next []byte, err error) {
	prefix := q.prefix()
	from, err := q.from(prefix)
	if err != nil {
		return nil, nil, err
	}
	least := ^math.Float64bits(max(0, q.Least))
	var names []name
	var ranks [][]byte
	err = r.store.ScanFrom(prefix, from, func(key, _ []byte) error {
		rank := key[len(prefix):]
		if len(rank) != rankBytes {
			return fmt.Errorf("%w: an index of predictions", swapstore.ErrCorrupt)
		}
		n := name(rank[scoreBytes:])
		switch {
		case binary.BigEndian.Uint64(rank) > least:
			return errEnough
		case r.hidden.is(n):
			return nil
		case len(names) == q.Limit:
			next = ranks[len(ranks)-1]
			return errEnough
		}
		names, ranks = append(names, n), append(ranks, bytes.Clone(rank))
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, nil, err
	}
	list, err = readPredictions(r.store, names...)
	// One may be gone since.
	return slices.DeleteFunc(list, func(p *scoring.Prediction) bool { return p == nil }), next, err
}

// Reasons returns an alert's reasons, or nil, without those naming a transaction being erased.
func (r *Reader) Reasons(of Ref) (*reasons.Record, error) {
	n := name(of)
	if r.hidden.is(n) {
		return nil, nil //nolint:nilnil // there are none
	}
	value, found, err := r.store.Get(keyOf(reasonsPrefix, n))
	if err != nil || !found {
		return nil, err
	}
	record, err := reasons.Decode(value)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", swapstore.ErrCorrupt, err)
	}
	for i, c := range record.Components {
		record.Components[i].Reasons = slices.DeleteFunc(c.Reasons, func(reason reasons.Reason) bool {
			return reason.Transaction != "" && r.hidden.is(nameOfID(r.secret, reason.Transaction))
		})
	}
	return record, nil
}

// Step is a timestep.
type Step struct {
	Timestep lethe.Timestep `json:"timestep"`
	// Graph is nil while open.
	Graph   *Graph `json:"graph"`
	Settled bool   `json:"settled"`
	Counts
	// Drift compares its scores with those of all before (PSI); nil without either.
	Drift *float64 `json:"score_drift"`
	// Quality is nil without labels.
	Quality *Quality `json:"quality"`
}

// Step returns a timestep, or nil.
func (r *Reader) Step(t lethe.Timestep) (*Step, error) {
	drifts, err := driftsOf(r.store)
	if err != nil {
		return nil, err
	}
	return r.step(t, drifts)
}

func (r *Reader) step(t lethe.Timestep, drifts map[lethe.Timestep]float64) (*Step, error) {
	out := &Step{Timestep: t}
	if drift, known := drifts[t]; known {
		out.Drift = &drift
	}
	var err error
	if out.Graph, err = readGraph(r.store, t); err != nil {
		return nil, err
	}
	known := out.Graph != nil
	for prefix, into := range map[string]any{countPrefix: &out.Counts, qualityPrefix: &out.Quality} {
		found, err := getJSON(r.store, timestepkey.New(prefix, t), into)
		if err != nil {
			return nil, fmt.Errorf("timestep %d: %w", t, err)
		}
		known = known || found
	}
	if _, out.Settled, err = r.store.Get(timestepkey.New(manifestPrefix, t)); err != nil || !known && !out.Settled {
		return nil, err
	}
	return out, nil
}

// Steps returns a page of timesteps before one, newest first, and whether more follow.
func (r *Reader) Steps(before lethe.Timestep, limit int) (list []*Step, more bool, err error) {
	known := make(map[lethe.Timestep]bool)
	for _, prefix := range []string{countPrefix, graphPrefix, manifestPrefix} {
		err := r.store.Scan([]byte(prefix), func(key, _ []byte) error {
			t, err := timestepkey.Parse(prefix, key)
			if err == nil && t < before {
				known[t] = true
			}
			return err
		})
		if err != nil {
			return nil, false, err
		}
	}
	times := descending(known)
	if more = len(times) > limit; more {
		times = times[:limit]
	}
	drifts, err := driftsOf(r.store)
	if err != nil {
		return nil, false, err
	}
	list = []*Step{}
	for _, t := range times {
		s, err := r.step(t, drifts)
		if err != nil {
			return nil, false, err
		}
		if s != nil {
			list = append(list, s)
		}
	}
	return list, more, nil
}
