package coordinator

import (
	"fmt"
	"slices"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// job is a request whose targets are still needed. They are in memory and in
// erasures.v1, nowhere else.
type job struct {
	request     lethe.ErasureRequest
	requestedAt time.Time
	source      bus.TopicPartition
	// next is the offset to commit once the targets are not needed any more.
	next int64
}

// jobs are in the order received.
type jobs struct {
	list  []job
	notes Notes
}

// of returns a request's job, or nil.
func (j *jobs) of(requestID string) *job {
	for i := range j.list {
		if j.list[i].request.RequestID == requestID {
			return &j.list[i]
		}
	}
	return nil
}

func (j *jobs) drop(requestID string) {
	j.list = slices.DeleteFunc(j.list, func(one job) bool { return one.request.RequestID == requestID })
}

// commit stores how far erasures.v1 has been dealt with, but never past a request
// whose targets are still needed.
func (j *jobs) commit(source bus.TopicPartition, next int64) error {
	for _, one := range j.list {
		next = min(next, one.next-1)
	}
	return j.notes.Commit(source, next)
}

// needsTargets reports whether a request's records are still to be rewritten.
func needsTargets(e deletions.Entry) bool {
	state := e.State
	if state == deletions.Failed {
		state = e.FailedIn
	}
	return state == deletions.Accepted || state == deletions.Suppressed || state == deletions.Rewriting
}

// record is the request as it stands in erasures.v1.
func (j *job) record(partition int) (ingest.Outgoing, error) {
	key, value, err := ingest.EncodeErasure(j.request, j.requestedAt)
	if err != nil {
		return ingest.Outgoing{}, fmt.Errorf("request %s: %w", j.request.RequestID, err)
	}
	return ingest.Outgoing{Key: key, Value: value, Pinned: true, Partition: partition}, nil
}
