package authority

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lethe/internal/jws"
)

// Role defines which records a key may sign.
type Role string

// The roles.
const (
	// Producer signs close and settle: a partition of a timestep is complete.
	Producer Role = "producer"
	// Compliance signs erasure requests, their approval and cancellation, and holds.
	Compliance Role = "compliance"
	// Admin signs operators' commands about the processes of a deployment.
	Admin Role = "admin"
)

// Roles returns every role.
func Roles() []Role { return []Role{Producer, Compliance, Admin} }

// Valid reports whether the role is one of Roles.
func (r Role) Valid() bool { return r == Producer || r == Compliance || r == Admin }

// ErrKeys marks an invalid file of keys. Its text names the line.
var ErrKeys = errors.New("file of keys")

// MaxFileBytes bounds a file of keys.
const MaxFileBytes = 1 << 20

const maxHolderBytes = 64

// holder is the person or program that has a key, and its role.
type holder struct {
	role Role
	name string
	key  ed25519.PublicKey
}

// Keys are the public keys whose signatures are accepted, by thumbprint.
type Keys struct{ byID map[string]holder }

// ParseKeys reads a file of keys: one per line, in the format of Line; text after # is a
// comment. Keys of the same name belong to one person or program and count once where two
// signers are required. Errors: ErrKeys, with the number of the line.
func ParseKeys(text []byte) (Keys, error) {
	k := Keys{make(map[string]holder)}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, MaxFileBytes)
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		one, err := parseHolder(fields)
		if err != nil {
			return Keys{}, fmt.Errorf("%w: line %d: %w", ErrKeys, n, err)
		}
		id := jws.Thumbprint(one.key)
		if _, doubled := k.byID[id]; doubled {
			return Keys{}, fmt.Errorf("%w: line %d: the key stands there twice; it has one role and one holder", ErrKeys, n)
		}
		k.byID[id] = one
	}
	if err := lines.Err(); err != nil {
		return Keys{}, fmt.Errorf("%w: %w", ErrKeys, err)
	}
	return k, nil
}

func parseHolder(fields []string) (one holder, err error) {
	if len(fields) != 3 {
		return one, fmt.Errorf("%d words, want three: role, name and key", len(fields))
	}
	one = holder{role: Role(fields[0]), name: fields[1]}
	if !one.role.Valid() {
		return one, fmt.Errorf("role %.20q, want producer, compliance or admin", fields[0])
	}
	if err := CheckHolder(one.name); err != nil {
		return one, err
	}
	one.key, err = jws.Decode(fields[2])
	if err != nil || len(one.key) != ed25519.PublicKeySize {
		return one, errors.New("the key is not the 43 characters of a public Ed25519 key in base64url")
	}
	return one, nil
}

// CheckHolder rejects a name that cannot be written in a line.
func CheckHolder(name string) error {
	if name == "" || len(name) > maxHolderBytes || strings.ContainsAny(name, " \t\r\n#") {
		return fmt.Errorf("a holder has a name of 1 to %d bytes without white space and #", maxHolderBytes)
	}
	return nil
}

// Line formats a public key for a file of keys.
func Line(role Role, name string, key ed25519.PublicKey) string {
	return fmt.Sprintf("%s %s %s", role, name, jws.Encode(key))
}

// Count is the number of holders of keys with a role.
func (k Keys) Count(role Role) int {
	names := make(map[string]bool)
	for _, one := range k.byID {
		if one.role == role {
			names[one.name] = true
		}
	}
	return len(names)
}

// Holders counts the distinct holders, with the role Compliance, of the keys. A key that is no
// longer in the file does not count.
func (k Keys) Holders(keyIDs []string) int {
	signed, _ := k.Signers(keyIDs)
	return len(signed)
}

// Signers returns the names of the holders of keys with the role Compliance: those of these keys, and the others, each
// sorted.
func (k Keys) Signers(keyIDs []string) (signed, others []string) {
	has := make(map[string]bool)
	for id, one := range k.byID {
		if one.role == Compliance {
			has[one.name] = has[one.name] || slices.Contains(keyIDs, id)
		}
	}
	for name := range has {
		if has[name] {
			signed = append(signed, name)
		} else {
			others = append(others, name)
		}
	}
	slices.Sort(signed)
	slices.Sort(others)
	return signed, others
}
