package backup

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"lethe"
	"lethe/internal/jcs"
	"lethe/internal/jws"
)

const (
	format    = "lethe-backup/1"
	mediaType = "lethe-backup.v1+jws"
	// manifestName is the last entry of a backup.
	manifestName = "manifest.json"
)

// ErrRefused marks a backup that was not restored. The text names the file and the remedy.
var ErrRefused = errors.New("backup refused")

// Manifest describes a backup. The JSON names are part of the command line.
type Manifest struct {
	Format string `json:"format"`
	ID     string `json:"backup_id"`
	// CreatedAt and ExpiresAt are those of the registry.
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
	// Deployment is the deployment of the data.
	Deployment lethe.DeploymentID `json:"deployment"`
	// Version is the version of the program that made it.
	Version string `json:"version"`
	// Whole means that it contains the stores and the embedded broker's log.
	Whole bool `json:"whole"`
	// Ledger is the data directory in which the ledger is continued.
	Ledger string `json:"ledger"`
	Files  []File `json:"files"`
}

// File is a file of a backup.
type File struct {
	// Path is below the data directory, with slashes.
	Path   string       `json:"path"`
	Bytes  int64        `json:"bytes"`
	SHA256 lethe.Digest `json:"sha256"`
}

// signed is the manifest as a JSON web signature.
type signed struct {
	Payload    string          `json:"payload"`
	Signatures []jws.Signature `json:"signatures"`
}

func (m Manifest) sign(key ed25519.PrivateKey) ([]byte, error) {
	text, err := jcs.Encode(m)
	if err != nil {
		return nil, err
	}
	s := signed{Payload: jws.Encode(text)}
	one, err := jws.Sign(s.Payload, mediaType, key)
	if err != nil {
		return nil, err
	}
	s.Signatures = []jws.Signature{one}
	return jcs.Encode(s)
}

// openManifest decodes a manifest and checks that it is signed by one of the keys, of which there
// must be at least one.
func openManifest(data []byte, keys []ed25519.PublicKey) (m Manifest, err error) {
	var s signed
	if json.Unmarshal(data, &s) != nil || len(s.Signatures) != 1 {
		return m, fmt.Errorf("%s is damaged", manifestName)
	}
	text, err := jws.Decode(s.Payload)
	if err != nil {
		return m, fmt.Errorf("%s is damaged", manifestName)
	}
	var head struct {
		Format string `json:"format"`
	}
	if json.Unmarshal(text, &head) != nil {
		return m, fmt.Errorf("%s is damaged", manifestName)
	}
	if head.Format != format {
		return m, fmt.Errorf("it is of another version, %.40q, and %q is read: use the version of lethe that made it",
			head.Format, format)
	}
	header, err := s.Signatures[0].Header()
	by := func(key ed25519.PublicKey) bool { return s.Signatures[0].Verify(s.Payload, key) }
	if err != nil || header.Type != mediaType || !slices.ContainsFunc(keys, by) {
		return m, fmt.Errorf("%s is not signed by the key %.16s, nor by one that this has replaced: it was altered, "+
			"or is of another deployment", manifestName, jws.Thumbprint(keys[0]))
	}
	return m, json.Unmarshal(text, &m)
}
