package worlds

import (
	"maps"

	"lethe/ingest/bus"
)

// placed notes where a record was written: before those ends of partitions that have moved.
func (l *log) placed(e event, before, after map[bus.TopicPartition]int64) {
	name := e.place()
	if l.places[name] == nil {
		l.places[name] = make(map[bus.TopicPartition]int64)
	}
	for tp, end := range after {
		if end > before[tp] {
			l.places[name][tp] = end
		}
	}
}

// place is the name of where records of a key are.
func (e event) place() string { return string(e.topic) + " " + string(e.record.Key) }

// keeps notes up to where everything was dealt with when a request is sent, as brokers know it: whatever becomes of
// the process that leads, and of the request if it is taken back, that stays.
func (l *log) keeps(requestID string, g *group) {
	if g != nil {
		l.taken[requestID] = maps.Clone(g.positions)
	}
}

// has reports whether all records of a key were dealt with by then.
func (l *log) has(requestID string, e event) bool {
	taken, said := l.taken[requestID]
	for tp, end := range l.places[e.place()] {
		if !said || taken[tp] < end {
			return false
		}
	}
	return said
}

// cloned is a copy of maps of which those within are added to.
func cloned(of map[string]map[bus.TopicPartition]int64) map[string]map[bus.TopicPartition]int64 {
	out := make(map[string]map[bus.TopicPartition]int64, len(of))
	for name, one := range of {
		out[name] = maps.Clone(one)
	}
	return out
}
