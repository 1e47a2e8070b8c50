package role

import (
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// Acknowledge is the output that publishes what a process says of a step of an erasure, whether it
// leads or stands by, and then notes its attempt.
func Acknowledge(a deletions.Ack, note *int) (Output, error) {
	value, err := a.Encode()
	if err != nil {
		return Output{}, err
	}
	records := []ingest.Outgoing{{Key: []byte(a.Key()), Value: value}}
	return Output{Topic: bus.Control, Records: records, Note: func() error {
		*note = a.Attempt
		return nil
	}}, nil
}
