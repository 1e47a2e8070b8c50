package jws

import (
	"encoding/json"
	"errors"
	"fmt"

	"lethe/internal/jcs"
)

// detached is the general JSON serialization without the payload (RFC 7515, appendix F), which is
// stored elsewhere.
type detached struct {
	Signatures []Signature `json:"signatures"`
}

// EncodeDetached writes signatures without their payload.
func EncodeDetached(list []Signature) ([]byte, error) { return jcs.Encode(detached{list}) }

// DecodeDetached reads the output of EncodeDetached, with 1 to most signatures. It does not
// verify them.
func DecodeDetached(text []byte, most int) ([]Signature, error) {
	// Programs differ in how they read repeated members.
	if _, err := jcs.Transform(text); err != nil {
		return nil, fmt.Errorf("signatures: %w", err)
	}
	var members map[string]json.RawMessage
	var list []map[string]string
	if json.Unmarshal(text, &members) != nil || json.Unmarshal(members["signatures"], &list) != nil {
		return nil, errors.New("signatures: not an object with a list of signatures, each of protected and signature")
	}
	if _, has := members["payload"]; has {
		return nil, errors.New("signatures: they bring a payload, which stands elsewhere")
	}
	if len(list) == 0 || len(list) > most {
		return nil, fmt.Errorf("signatures: there are %d, want 1 to %d", len(list), most)
	}
	out := make([]Signature, len(list))
	for i, one := range list {
		out[i] = Signature{Protected: one["protected"], Value: one["signature"]}
	}
	return out, nil
}
