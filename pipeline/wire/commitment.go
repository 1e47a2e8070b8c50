package wire

import (
	"fmt"

	"lethe"
	"lethe/ingest"
)

func commitments() kind { return kind{"!commit/", "lethe-commitment/1", "commitment"} }

// Commitment has the digest of a model or of the trainer's setup, for a leaf of the transparency log. Train publishes
// it as a control record, because it may be a process of its own, and no topic has older models.
type Commitment struct {
	Format string `json:"format"`
	// Component is the place of a model in the configuration, Group that of its shards there. The meta-model is behind
	// the last component.
	Component int            `json:"component"`
	Group     int            `json:"group"`
	Timestep  lethe.Timestep `json:"timestep"`
	Lineage   lethe.Digest   `json:"lineage,omitzero"`
	Digest    lethe.Digest   `json:"digest"`
	// By is the owner of the model, if several processes train. It is part of the key: a late record of a previous owner
	// replaces none of a later one.
	By Owner `json:"by,omitzero"`
	// Setup means the digest of ensemble.Setup. All other fields are zero then.
	Setup bool `json:"setup,omitempty"`
}

// name is the key without its prefix.
func (c Commitment) name() string {
	switch {
	case c.Setup:
		return "setup"
	case c.By == Owner{}:
		return fmt.Sprintf("%d/%d/%d", c.Component, c.Group, c.Timestep)
	default:
		return fmt.Sprintf("%d/%d/%d/%s", c.Component, c.Group, c.Timestep, c.By)
	}
}

// Record returns the commitment as a record of control.v1.
func (c Commitment) Record() (ingest.Outgoing, error) {
	c.Format = commitments().format
	return commitments().record(c.name(), c)
}

// ParseCommitment decodes a record of control.v1, if it is a commitment.
func ParseCommitment(rec ingest.Record) (c Commitment, found bool, err error) {
	return parse(commitments(), rec, func(c *Commitment, name string) error {
		if c.name() != name || c.Digest.IsZero() || min(c.Component, c.Group, int(c.Timestep)) < 0 {
			return errKey
		}
		c.Format = ""
		return nil
	})
}
