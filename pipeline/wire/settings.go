package wire

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"lethe"
	"lethe/ingest"
	"lethe/internal/jcs"
)

const (
	settingsFormat = "lethe-settings/1"
	settingsPrefix = "!settings/"
)

// RequestsSigned is the setting of role graphs that says how many people must sign an erasure
// request.
const RequestsSigned = "signatures.requests"

// Requests is what RequestsSigned is said under, in place of a role, to those who ask for erasures.
const Requests = "requests"

// IsForRequesters reports whether a record of erasure-status.v1 stands where those who ask for erasures are told how
// many must sign.
func IsForRequesters(rec ingest.Record) bool { return string(rec.Key) == settingsPrefix+Requests }

// Settings are what other roles must have in common with a role, as its process
// said when it began. They travel on control.v1, which every process reads: of each role those
// that were said last count.
type Settings struct {
	Format string `json:"format"`
	Role   string `json:"role"`
	// Values are by configuration key.
	Values map[string]string `json:"values"`
	// Since tells them from those that were said before, see Since.
	Since time.Time `json:"since,omitzero"`
}

// Late reports whether the settings were said before others of the role, and come behind them: written again, or late.
func (s Settings) Late(newest Settings) bool { return s.Since.Before(newest.Since) }

// Record returns the settings as a record of control.v1.
func (s Settings) Record() (ingest.Outgoing, error) {
	s.Format = settingsFormat
	value, err := json.Marshal(s)
	if err != nil {
		return ingest.Outgoing{}, fmt.Errorf("settings of role %s: %w", s.Role, err)
	}
	return ingest.Outgoing{Key: []byte(settingsPrefix + s.Role), Value: value}, nil
}

// Configuration returns the digest of what the roles have said: SHA-256 of the canonical
// JSON (RFC 8785) of an object with the values of each role.
func Configuration(said map[string]Settings) (lethe.Digest, error) {
	values := make(map[string]map[string]string)
	for role, s := range said {
		values[role] = s.Values
	}
	text, err := jcs.Encode(values)
	if err != nil {
		return lethe.Digest{}, fmt.Errorf("digest of the settings: %w", err)
	}
	return sha256.Sum256(text), nil
}

// ParseSettings reads a record of control.v1; it says whether there are
// settings in it.
func ParseSettings(rec ingest.Record) (s Settings, found bool, err error) {
	if !strings.HasPrefix(string(rec.Key), settingsPrefix) || rec.Tombstone() {
		return s, false, nil
	}
	if err = proven(rec); err == nil {
		err = json.Unmarshal(rec.Value, &s)
	}
	if err == nil && s.Format != settingsFormat {
		err = fmt.Errorf("format %q, want %q", s.Format, settingsFormat)
	}
	if err != nil {
		return s, false, fmt.Errorf("%s/%d@%d: settings: %w", rec.Topic, rec.Partition, rec.Offset, err)
	}
	return s, true, nil
}
