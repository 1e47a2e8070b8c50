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

const (
	sealedFormat = "lethe-sealed/1"
	sealedKey    = "!sealed"
)

// Sealed says from which offsets on the records of internal topics carry codes: those of a
// deployment that an earlier version began. It travels on control.v1 as a
// record, and stands in every data directory.
type Sealed struct {
	Format string `json:"format"`
	// SecretCheck tells whose secret the codes are made with, see Command.Shares. It is empty in a data directory for
	// which no process has said anything yet.
	SecretCheck string `json:"secret_check"`
	// From has offsets by <topic>/<partition>. All other partitions are sealed from their
	// beginning.
	From map[string]int64 `json:"from"`
}

// NewSealed returns what is said of partitions.
func NewSealed(secret lethe.Secret, before map[bus.TopicPartition]int64) Sealed {
	s := Sealed{Format: sealedFormat, SecretCheck: SecretCheck(secret), From: make(map[string]int64)}
	for tp, offset := range before {
		s.From[tp.String()] = offset
	}
	return s
}

// SealedFromTheBeginning is of a data directory that a version with codes begins: nothing counts there without one,
// whatever secret makes them.
func SealedFromTheBeginning() Sealed {
	return Sealed{Format: sealedFormat, From: make(map[string]int64)}
}

// Fits reports whether codes are made with the secret of a check.
func (s Sealed) Fits(secretCheck string) bool {
	return s.SecretCheck == "" || s.SecretCheck == secretCheck
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

// Record returns it as a record of control.v1.
func (s Sealed) Record() (ingest.Outgoing, error) {
	value, err := s.Encode()
	return ingest.Outgoing{Key: []byte(sealedKey), Value: value}, err
}

// ParseSealed reads a record of control.v1; it says whether it tells from where
// records are sealed. One that is not the deployment's own does not.
func ParseSealed(rec ingest.Record) (s Sealed, found bool) {
	if string(rec.Key) != sealedKey || rec.Tombstone() || proven(rec) != nil {
		return s, false
	}
	s, err := DecodeSealed(rec.Value)
	return s, err == nil
}
