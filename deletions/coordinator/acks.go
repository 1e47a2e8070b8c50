package coordinator

import (
	"maps"
	"slices"

	"lethe/deletions"
	"lethe/ingest"
)

// The roles whose acknowledgements are waited for.
const (
	trainRole = "train"
	scoreRole = "score"
)

// acks holds the newest acknowledgement of each role and step, by request.
type acks map[string]map[roleStep]deletions.Ack

type roleStep struct {
	role string
	step deletions.Step
}

func (a acks) take(ack deletions.Ack) {
	known := a[ack.RequestID]
	if known == nil {
		known = make(map[roleStep]deletions.Ack)
		a[ack.RequestID] = known
	}
	known[roleStep{ack.Role, ack.Step}] = ack
}

// of returns a role's acknowledgement of the request's present attempt.
func (a acks) of(e deletions.Entry, role string, step deletions.Step) (deletions.Ack, bool) {
	ack, ok := a[e.RequestID][roleStep{role, step}]
	return ack, ok && ack.Attempt >= e.Attempts
}

// drop forgets a request's acknowledgements and returns the tombstones that
// delete them from the topic, in the order of their keys.
func (a acks) drop(requestID string) []ingest.Outgoing {
	var keys []string
	for ack := range maps.Values(a[requestID]) {
		keys = append(keys, ack.Key())
	}
	delete(a, requestID)
	slices.Sort(keys)
	records := make([]ingest.Outgoing, len(keys))
	for i, key := range keys {
		records[i].Key = []byte(key)
	}
	return records
}
