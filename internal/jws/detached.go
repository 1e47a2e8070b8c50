package jws

import (
	"encoding/json"
	"errors"
	"fmt"

	"lethe/internal/jcs"
)

// detached is the general JSON serialization without its payload (RFC 7515, appendix F): that
// stands elsewhere.
type detached struct {
	Signatures []Signature `json:"signatures"`
}

// EncodeDetached writes signatures whose payload stands elsewhere.
func EncodeDetached(list []Signature) ([]byte, error) { return jcs.Encode(detached{list}) }

// DecodeDetached reads what EncodeDetached wrote: 1 to most signatures. Of none it checks
// anything.
func DecodeDetached(text []byte, most int) ([]Signature, error) {
	// Doubled members are read differently by different programs.
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
