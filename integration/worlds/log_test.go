package worlds

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
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
	// places are where records were written by key, and taken up to where who leads had said that everything was
	// dealt with when a request was sent.
	places map[string]map[bus.TopicPartition]int64
	taken  map[string]map[bus.TopicPartition]int64
	// said are the predictions that stand, by transaction and timestep, contents all that ever
	// were, by their ids, and doubled those of which there was another one.
	said     map[saying]string
	contents map[string]string
	doubled  []string
	witness  *witness
	// absent are the roles of which a process had not begun as a request was sent.
	absent map[string]map[string]bool
	// rebuilt says that all graphs were made again: other slices may have been predicted from before that.
	rebuilt bool
	// hides are the obstacles that stand, by when they began, sent those that stood as requests were sent, and over
	// those as they were verified.
	hides      obstacles
	sentBehind map[string]obstacles
	over       map[string]obstacles
}

// saying is what there is one prediction of.
type saying struct {
	transaction lethe.TransactionID
	timestep    lethe.Timestep
}

func newLog() *log {
	return &log{
		predictions: make(map[lethe.TransactionID]scoring.Prediction), sent: make(map[bus.Topic]int64),
		knowing: make(map[string]bool), places: make(map[string]map[bus.TopicPartition]int64),
		taken: make(map[string]map[bus.TopicPartition]int64),
		said:  make(map[saying]string), contents: make(map[string]string),
		witness: newWitness(), absent: make(map[string]map[string]bool),
		sentBehind: make(map[string]obstacles), over: make(map[string]obstacles),
	}
}

func (l *log) clone() *log {
	return &log{
		maps.Clone(l.predictions), maps.Clone(l.sent), maps.Clone(l.knowing), cloned(l.places), maps.Clone(l.taken),
		maps.Clone(l.said),
		maps.Clone(l.contents), slices.Clone(l.doubled), l.witness.clone(), maps.Clone(l.absent), l.rebuilt,
		slices.Clone(l.hides), maps.Clone(l.sentBehind), maps.Clone(l.over),
	}
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
			if n.Status != nil && n.Status.State == deletions.Verified {
				l.over[n.Status.RequestID] = slices.Clone(l.hides)
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
				l.says(p, string(rec.Value))
			} else {
				delete(l.predictions, lethe.TransactionID(rec.Key))
				maps.DeleteFunc(l.said, func(s saying, _ string) bool { return string(s.transaction) == string(rec.Key) })
			}
		default:
		}
	}
	return nil
}

// says notes a prediction: of each there is one, and no other one under its id.
func (l *log) says(p scoring.Prediction, content string) {
	at, id := saying{p.Transaction, p.Timestep}, fmt.Sprint(p.ID)
	if before, known := l.contents[id]; known && before != content {
		l.doubled = append(l.doubled, fmt.Sprintf("prediction %s: %s, and before that %s", id, content, before))
	}
	if before, known := l.said[at]; known && before != id && p.Final {
		l.doubled = append(l.doubled, fmt.Sprintf("a second prediction of %q of %d: %s, and before that %s",
			p.Transaction, p.Timestep, content, l.contents[before]))
	}
	l.contents[id], l.said[at] = content, id
}

// predictionOf decodes a prediction. Tombstones and control records give none.
func predictionOf(rec ingest.Record) (p scoring.Prediction, given bool, err error) {
	if strings.HasPrefix(string(rec.Key), "!") || rec.Tombstone() {
		return p, false, nil
	}
	return p, true, json.Unmarshal(rec.Value, &p)
}
