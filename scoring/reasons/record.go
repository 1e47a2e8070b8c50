package reasons

import (
	"encoding/json"
	"errors"
	"fmt"

	"lethe"
	"lethe/internal/check"
)

// Record has the reasons of one transaction; it is published to the reasons topic with the
// transaction's id as key.
type Record struct {
	Transaction lethe.TransactionID `json:"transaction"`
	Timestep    lethe.Timestep      `json:"timestep"`
	// EnsembleVersion identifies the explained models: those of the prediction, or, if Again is
	// set, those that were served when the record was rebuilt.
	EnsembleVersion lethe.Digest   `json:"ensemble_version"`
	TrainedThrough  lethe.Timestep `json:"trained_through"`
	// Again means that the record replaced one that an erasure affected: the other end of a
	// payment was erased. The prediction stays as published.
	Again bool `json:"again,omitempty"`
	// Intercept is the constant that the meta-model adds to the weighted logits, nil without one.
	Intercept  *float64    `json:"intercept,omitempty"`
	Components []Component `json:"components"`
}

// Component explains the logit of one component. Base, the contributions of all Reasons and
// Remainder add up to Logit: within 1e-6, and for networks within 1e-3.
type Component struct {
	Model string `json:"model"`
	// Groups is the number of models whose mean is Logit.
	Groups int `json:"groups"`
	// Weight is the component's weight in the meta-model, nil without one.
	Weight *float64 `json:"weight,omitempty"`
	Logit  float64  `json:"logit"`
	Base   float64  `json:"base"`
	// Reasons are those that affected the logit most, in either direction, the largest first.
	Reasons []Reason `json:"reasons"`
	// Remainder is the sum of all other contributions.
	Remainder float64 `json:"remainder"`
}

// Reason is one part of a transaction that affected a logit.
type Reason struct {
	Code Code `json:"code"`
	// Feature is the index of a transaction's own feature; nil if Code is not of a feature.
	Feature *int `json:"feature,omitempty"`
	// Name is the feature's name, if configured.
	Name string `json:"name,omitempty"`
	// Transaction is the other end of a payment, and Direction is in for a payment from it, out
	// for one to it, or both.
	Transaction lethe.TransactionID `json:"transaction,omitempty"`
	Direction   string              `json:"direction,omitempty"`
	// Contribution is the amount that it adds to the logit.
	Contribution float64 `json:"contribution"`
}

// Sum is the base, all contributions and the remainder.
func (c Component) Sum() float64 {
	sum := c.Base + c.Remainder
	for _, r := range c.Reasons {
		sum += r.Contribution
	}
	return sum
}

// ErrRecord marks bytes or values that are not a record of reasons. The error never repeats their
// content.
var ErrRecord = errors.New("not a valid record of reasons")

// Validate reports every invalid field.
func (r *Record) Validate() error {
	var p check.Problems
	p.That(r.Transaction != "", "transaction", "", "an id")
	p.AtLeast("timestep", int(r.Timestep), 0)
	p.That(!r.EnsembleVersion.IsZero(), "ensemble_version", r.EnsembleVersion, "that of an ensemble")
	p.That(len(r.Components) > 0, "components", len(r.Components), "at least 1")
	for _, c := range r.Components {
		for _, reason := range c.Reasons {
			p.That(reason.Code.known(), "code", string(reason.Code), "one of the codes")
			p.That((reason.Feature != nil) == reason.Code.ofFeature(), "feature", reason.Code, "with codes of features alone")
			p.That((reason.Transaction != "") == (reason.Code == Payment), "other end", reason.Code,
				"with payments alone")
		}
	}
	return p.Err()
}

// Encode returns the record as compact JSON; equal records have equal bytes. The error
// wraps ErrRecord.
func (r *Record) Encode() ([]byte, error) {
	if err := r.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("%w: fields do not encode as JSON", ErrRecord)
	}
	return data, nil
}

// Decode decodes and validates a record. Unknown fields are ignored. The error wraps ErrRecord.
func Decode(data []byte) (*Record, error) {
	r := new(Record)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%w: no JSON of one", ErrRecord) // the decoder's error may quote it
	}
	if err := r.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	return r, nil
}
