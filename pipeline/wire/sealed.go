package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// ErrUnproven refuses a record of a topic of lethe's own that does not carry the code of a
// process of the deployment. It says nothing, whatever it holds.
var ErrUnproven = errors.New("not written by a process of this deployment")

// proven refuses records that are not the deployment's own.
func proven(rec ingest.Record) error {
	if rec.Unproven != "" {
		return fmt.Errorf("%w: %s", ErrUnproven, rec.Unproven)
	}
	return nil
}

// SealOf returns what makes and checks the codes of a deployment's records. Records before
// the given offsets need none.
func SealOf(secret lethe.Secret, before map[bus.TopicPartition]int64) *bus.Seal {
	return bus.NewSeal(secret.Hash("records of internal topics"), before)
}

const sealedFormat = "lethe-sealed/1"

// Sealed is what a data directory holds of its codes.
type Sealed struct {
	Format string `json:"format"`
	// SecretCheck tells whose secret the codes are made with, see Command.Shares.
	SecretCheck string `json:"secret_check"`
	// From has, by <topic>/<partition>, the offsets from which on codes are of that secret: a rotation
	// of the secret has checked what stands before. All other partitions are sealed from their beginning.
	From map[string]int64 `json:"from"`
}

// NewSealed returns what a data directory holds of the codes made with a secret.
func NewSealed(secret lethe.Secret, before map[bus.TopicPartition]int64) Sealed {
	s := Sealed{Format: sealedFormat, SecretCheck: SecretCheck(secret), From: make(map[string]int64)}
	for tp, offset := range before {
		s.From[tp.String()] = offset
	}
	return s
}

// Before returns the offsets by partition.
func (s Sealed) Before() (map[bus.TopicPartition]int64, error) {
	out := make(map[bus.TopicPartition]int64)
	for place, offset := range s.From {
		topic, partition, _ := strings.Cut(place, "/")
		p, err := strconv.Atoi(partition)
		if err != nil || p < 0 || offset < 0 {
			return nil, fmt.Errorf("sealed from %.40q, offset %d: want <topic>/<partition> and at least 0", place, offset)
		}
		out[bus.TopicPartition{Topic: bus.Topic(topic), Partition: p}] = offset
	}
	return out, nil
}

// Encode returns it as JSON.
func (s Sealed) Encode() ([]byte, error) {
	value, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("from where records are sealed: %w", err)
	}
	return value, nil
}

// DecodeSealed reads what Encode wrote.
func DecodeSealed(value []byte) (s Sealed, err error) {
	if err = json.Unmarshal(value, &s); err == nil && s.Format != sealedFormat {
		err = fmt.Errorf("format %.40q, want %q", s.Format, sealedFormat)
	}
	return s, err
}
