package wire

import (
	"crypto/sha256"
	"fmt"
	"time"

	"lethe"
	"lethe/ingest"
	"lethe/internal/jcs"
)

const settingsPrefix = "!settings/"

func settings() kind { return kind{settingsPrefix, "lethe-settings/1", "settings"} }

// RequestsSigned is the setting of graphs for the number of people who must sign an erasure request.
const RequestsSigned = "signatures.requests"

// Requests takes the place of a role in the settings for requesters, which have RequestsSigned only.
const Requests = "requests"

// IsForRequesters reports whether a record of erasure-status.v1 has the key of the settings for requesters.
func IsForRequesters(rec ingest.Record) bool { return string(rec.Key) == settingsPrefix+Requests }

// Settings are the settings of a role that other roles must share. Its process publishes them at its start as a control
// record; the newest of each role are valid.
type Settings struct {
	Format string `json:"format"`
	Role   string `json:"role"`
	// Values are by configuration key.
	Values map[string]string `json:"values"`
	// Since orders the settings of a role, see Since.
	Since time.Time `json:"since,omitzero"`
}

// Late reports whether the settings are older than others of the role.
func (s Settings) Late(newest Settings) bool { return s.Since.Before(newest.Since) }

// Record returns the settings as a record of control.v1.
func (s Settings) Record() (ingest.Outgoing, error) {
	s.Format = settings().format
	return settings().record(s.Role, s)
}

// Configuration returns the digest of all settings: SHA-256 of the canonical JSON (RFC 8785) of an object with the
// values of each role.
func Configuration(byRole map[string]Settings) (lethe.Digest, error) {
	values := make(map[string]map[string]string)
	for role, s := range byRole {
		values[role] = s.Values
	}
	text, err := jcs.Encode(values)
	if err != nil {
		return lethe.Digest{}, fmt.Errorf("digest of the settings: %w", err)
	}
	return sha256.Sum256(text), nil
}

// ParseSettings decodes a record of control.v1, if it has settings.
func ParseSettings(rec ingest.Record) (s Settings, found bool, err error) {
	return parse(settings(), rec, func(*Settings, string) error { return nil })
}
