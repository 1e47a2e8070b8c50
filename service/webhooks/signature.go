package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"
)

// Secret signs deliveries, and the receiver checks them with it.
type Secret []byte

const (
	secretPrefix     = "whsec_"
	leastSecretBytes = 24
	mostSecretBytes  = 64
	signatureVersion = "v1,"
)

// ErrSecret marks a text that is not a secret.
var ErrSecret = errors.New("no secret of webhooks: want whsec_ and 24 to 64 random bytes in base64")

// ParseSecret parses a secret in the format of Standard Webhooks.
func ParseSecret(text string) (Secret, error) {
	encoded, found := strings.CutPrefix(strings.TrimSpace(text), secretPrefix)
	secret, err := base64.StdEncoding.DecodeString(encoded)
	if !found || err != nil || len(secret) < leastSecretBytes || len(secret) > mostSecretBytes {
		return nil, ErrSecret
	}
	return secret, nil
}

// Sign returns the signature of a delivery: of its id, the time in seconds at which it is sent, and
// its body.
func (s Secret) Sign(id string, at time.Time, body []byte) string {
	mac := hmac.New(sha256.New, s)
	mac.Write([]byte(id + "." + seconds(at) + "."))
	mac.Write(body)
	return signatureVersion + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func seconds(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }
