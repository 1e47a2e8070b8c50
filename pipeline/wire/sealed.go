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

// ErrUnauthenticated is returned for a record of one of lethe's own topics without the code of the deployment. It must
// be ignored.
var ErrUnauthenticated = errors.New("not written by a process of this deployment")

// proven rejects records that are not the deployment's own.
func proven(rec ingest.Record) error {
	if rec.Unauthenticated != "" {
		return fmt.Errorf("%w: %s", ErrUnauthenticated, rec.Unauthenticated)
	}
	return nil
}

// SealOf returns the seal that adds and checks the codes of a deployment's records. Records before the given offsets
// need none.
func SealOf(secret lethe.Secret, before map[bus.TopicPartition]int64) *bus.Seal {
	return bus.NewSeal(secret.Hash("records of internal topics"), before)
}

const sealedFormat = "lethe-sealed/1"

// Sealed is the file of a data directory about the codes.
type Sealed struct {
	Format string `json:"format"`
	// SecretCheck identifies the secret of the codes, see Command.Shares.
	SecretCheck string `json:"secret_check"`
	// From are the offsets, by <topic>/<partition>, from which codes are of that secret: a rotation of the secret has
	// checked all records before. Other partitions have codes from their beginning.
	From map[string]int64 `json:"from"`
}

// NewSealed returns the file for codes of a secret.
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

// DecodeSealed decodes a Sealed.
func DecodeSealed(value []byte) (s Sealed, err error) {
	switch err = json.Unmarshal(value, &s); {
	case err != nil:
	case s.Format != sealedFormat:
		err = fmt.Errorf("format %.40q, want %q", s.Format, sealedFormat)
	case s.SecretCheck == "" || s.From == nil:
		err = errors.New("secret_check or from is missing")
	}
	return s, err
}
