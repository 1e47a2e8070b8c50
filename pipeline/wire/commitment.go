package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"lethe"
	"lethe/ingest"
)

const (
	commitmentFormat = "lethe-commitment/1"
	commitmentPrefix = "!commit/"
)

// Commitment says by its digest what train has made, so that the log can commit to it:
// train may be a process of its own, and older models are on no topic. It travels on
// control.v1 as a control record under a code of the secret, and holds nothing of
// what a model has learnt.
type Commitment struct {
	// Component is the place of a model in the configuration, Group that of its shards
	// there. The meta-model is behind the last component.
	Component int            `json:"component"`
	Group     int            `json:"group"`
	Timestep  lethe.Timestep `json:"timestep"`
	Lineage   lethe.Digest   `json:"lineage,omitzero"`
	Digest    lethe.Digest   `json:"digest"`
	// By is who has the model, where several processes share the training. It is part of the key: what an earlier owner
	// says late replaces nothing of a later one.
	By Owner `json:"by,omitzero"`
	// Setup says that it is no model but what models are trained with (ensemble.Setup). All
	// else but the digest is zero then.
	Setup bool `json:"setup,omitempty"`
}

// commitmentRecord is a commitment as it is sent.
type commitmentRecord struct {
	Format string          `json:"format"`
	Body   json.RawMessage `json:"body"`
	// Code is a keyed hash of the body.
	Code lethe.Digest `json:"code"`
}

func (c Commitment) key() string {
	if c.Setup {
		return commitmentPrefix + "setup"
	}
	place := fmt.Sprintf("%s%d/%d/%d", commitmentPrefix, c.Component, c.Group, c.Timestep)
	if c.By == (Owner{}) {
		return place
	}
	return place + "/" + c.By.String()
}

func commitmentCode(secret lethe.Secret, body []byte) lethe.Digest {
	return secret.Hash("commitment", body)
}

// Record returns the commitment as a record of control.v1.
func (c Commitment) Record(secret lethe.Secret) (ingest.Outgoing, error) {
	body, err := json.Marshal(c)
	if err != nil {
		return ingest.Outgoing{}, fmt.Errorf("commitment: %w", err)
	}
	value, err := json.Marshal(commitmentRecord{commitmentFormat, body, commitmentCode(secret, body)})
	if err != nil {
		return ingest.Outgoing{}, fmt.Errorf("commitment: %w", err)
	}
	return ingest.Outgoing{Key: []byte(c.key()), Value: value}, nil
}

// ParseCommitment reads a record of control.v1; it says whether there is a
// commitment in it. One that was not made with the secret is an error.
func ParseCommitment(secret lethe.Secret, rec ingest.Record) (c Commitment, found bool, err error) {
	if !strings.HasPrefix(string(rec.Key), commitmentPrefix) || rec.Tombstone() {
		return c, false, nil
	}
	var r commitmentRecord
	if err = proven(rec); err == nil {
		err = json.Unmarshal(rec.Value, &r)
	}
	if err == nil && r.Format != commitmentFormat {
		err = fmt.Errorf("format %.40q, want %q", r.Format, commitmentFormat)
	}
	if err == nil && r.Code != commitmentCode(secret, r.Body) {
		err = errors.New("not made with this secret")
	}
	if err == nil {
		err = json.Unmarshal(r.Body, &c)
	}
	if err == nil && (c.key() != string(rec.Key) || c.Digest.IsZero() || min(c.Component, c.Group, int(c.Timestep)) < 0) {
		err = errors.New("not what its key says")
	}
	if err != nil {
		return Commitment{}, false, fmt.Errorf("%s/%d@%d: commitment: %w", rec.Topic, rec.Partition, rec.Offset, err)
	}
	return c, true, nil
}
