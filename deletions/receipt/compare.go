package receipt

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"lethe/deletions"
	"lethe/deletions/internal/record"
)

// Differences names the members that differ from the ledger's entry, apart from those the entry lacks, such as the
// artefacts.
func (r *Receipt) Differences(e deletions.Entry) ([]string, error) {
	own := MayRemain(e.Scope, r.IndependentShards)
	want := New(e, Facts{
		Deployment: r.Deployment, KernelSet: r.KernelSet, SoftwareVersion: r.SoftwareVersion, Artefacts: r.Artefacts,
		IndependentShards: r.IndependentShards, Backups: r.Backups,
		MayRemain: r.MayRemain[min(len(own), len(r.MayRemain)):],
	})
	said, err := members(r)
	if err != nil {
		return nil, err
	}
	known, err := members(want)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(said, func(name string, value json.RawMessage) bool {
		same := bytes.Equal(known[name], value)
		if same {
			delete(known, name)
		}
		return same
	})
	maps.Copy(said, known)
	return slices.Sorted(maps.Keys(said)), nil
}

// Genuine reports whether data is the receipt of a request: signed with key, or, as an earlier key may have signed
// it, equal to the ledger's entry, which may be nil.
func Genuine(data []byte, requestID string, key ed25519.PublicKey, e *deletions.Entry) bool {
	r, v, err := Verify(data, Pinned(key))
	if err != nil || r.RequestID != requestID {
		return false
	}
	if v.Valid || e == nil {
		return v.Valid
	}
	differ, err := r.Differences(*e)
	return err == nil && len(differ) == 0
}

func members(v any) (out map[string]json.RawMessage, err error) {
	data, err := record.Encode(v)
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		return nil, fmt.Errorf("receipt: %w", err)
	}
	return out, nil
}
