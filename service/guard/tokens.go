package guard

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// ErrTokens marks an invalid file of tokens. The message names the line.
var ErrTokens = errors.New("file of tokens")

// Tokens are the accepted tokens, by hash.
type Tokens struct{ known map[[sha256.Size]byte]Person }

// Find returns the person of a token. The lookup uses its hash, so that its timing reveals nothing
// about a token.
func (t *Tokens) Find(token string) (Person, bool) {
	p, known := t.known[sha256.Sum256([]byte(token))]
	return p, known
}

// ReadTokens reads the file of hashes. Every line has a name, roles separated by commas, the
// SHA-256 of the token in hexadecimal and, if it expires, the time (RFC 3339). Empty lines and
// those that begin with # are ignored. A file that other users may write is rejected.
func ReadTokens(path string) (*Tokens, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTokens, err)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTokens, err)
	}
	const othersWrite = 0o022
	if info.Mode().Perm()&othersWrite != 0 {
		return nil, fmt.Errorf("%w %s: others may write it (chmod 0600)", ErrTokens, path)
	}
	t, err := parseTokens(f)
	if err != nil {
		return nil, fmt.Errorf("%w %s: %w", ErrTokens, path, err)
	}
	return t, nil
}

func parseTokens(r io.Reader) (*Tokens, error) {
	t := &Tokens{known: make(map[[sha256.Size]byte]Person)}
	lines := bufio.NewScanner(r)
	for at := 1; lines.Scan(); at++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		if err := t.add(strings.Fields(text)); err != nil {
			return nil, fmt.Errorf("line %d: %w", at, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(t.known) == 0 {
		return nil, errors.New("no token is in it: nobody could get in")
	}
	return t, nil
}

// The fields of a line.
const (
	leastFields = 3
	mostFields  = 4
)

func (t *Tokens) add(fields []string) (err error) {
	if len(fields) < leastFields || len(fields) > mostFields {
		return fmt.Errorf("%d fields, want NAME ROLE[,ROLE] SHA256 [EXPIRES]", len(fields))
	}
	p := Person{Name: fields[0]}
	if p.Rights, err = RightsOf(fields[1]); err != nil {
		return err
	}
	hash, err := hex.DecodeString(fields[2])
	if err != nil || len(hash) != sha256.Size {
		return errors.New("the third field is no SHA-256 in hexadecimal")
	}
	if len(fields) == mostFields {
		if p.Expires, err = time.Parse(time.RFC3339, fields[3]); err != nil {
			return errors.New("the fourth field is no time as RFC 3339 has it")
		}
	}
	key := [sha256.Size]byte(hash)
	if _, twice := t.known[key]; twice {
		return errors.New("the token stands in it twice")
	}
	t.known[key] = p
	return nil
}

// tokenPrefix begins the tokens that NewToken makes.
const tokenPrefix = "lethe_"

// NewToken creates a token, and its line for the file.
func NewToken(name string, roles []string, expires time.Time) (token, line string, err error) {
	list := strings.Join(roles, ",")
	if _, err := RightsOf(list); err != nil {
		return "", "", err
	}
	if name == "" || strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' }) || strings.HasPrefix(name, "#") {
		return "", "", errors.New("a name has no spaces and does not begin with #")
	}
	secret := make([]byte, sha256.Size)
	if _, err := rand.Read(secret); err != nil {
		return "", "", err
	}
	token = tokenPrefix + base64.RawURLEncoding.EncodeToString(secret)
	hash := sha256.Sum256([]byte(token))
	line = name + " " + list + " " + hex.EncodeToString(hash[:])
	if !expires.IsZero() {
		line += " " + expires.UTC().Format(time.RFC3339)
	}
	return token, line, nil
}
