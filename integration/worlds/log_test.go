package worlds

import (
	"encoding/json"
	"maps"
	"strings"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
	"lethe/scoring"
)

// log keeps what compare must know of the past.
type log struct {
	// predictions are those since an erasure was swapped last: none of them may depend on a
	// target any more.
	predictions map[lethe.TransactionID]scoring.Prediction
	// sent counts the records that were written, tombstones included.
	sent map[bus.Topic]int64
	// knowing are the requests that were sent when every record before them had been read.
	knowing map[string]bool
}

func newLog() *log {
	return &log{
		make(map[lethe.TransactionID]scoring.Prediction), make(map[bus.Topic]int64), make(map[string]bool),
	}
}

func (l *log) clone() *log {
	return &log{maps.Clone(l.predictions), maps.Clone(l.sent), maps.Clone(l.knowing)}
}

// asked notes that a request is sent, and whether there are records that are not read.
func (l *log) asked(requestID string, behind bool) { l.knowing[requestID] = !behind }

// note takes what a role publishes.
func (l *log) note(topic bus.Topic, records []ingest.Outgoing) error {
	l.sent[topic] += int64(len(records))
	for _, out := range records {
		rec := ingest.Record{Key: out.Key, Value: out.Value, Headers: out.Headers}
		switch topic {
		case bus.ErasureStatus:
			n, err := wire.ParseNotice(rec)
			if err != nil {
				return err
			}
			if n.Status != nil && n.Status.State == deletions.Swapped {
				clear(l.predictions)
			}
		case bus.Predictions:
			p, given, err := predictionOf(rec)
			if err != nil {
				return err
			}
			if given {
				l.predictions[p.Transaction] = p
			} else {
				delete(l.predictions, lethe.TransactionID(rec.Key))
			}
		default:
		}
	}
	return nil
}

// predictionOf decodes a prediction. Tombstones and control records give none.
func predictionOf(rec ingest.Record) (p scoring.Prediction, given bool, err error) {
	if strings.HasPrefix(string(rec.Key), "!") || rec.Tombstone() {
		return p, false, nil
	}
	return p, true, json.Unmarshal(rec.Value, &p)
}
