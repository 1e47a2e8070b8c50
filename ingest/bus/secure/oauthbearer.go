package secure

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/segmentio/kafka-go/sasl"
)

// errUnprepared replaces the library's error, which may contain the secret.
var errUnprepared = errors.New("user or password holds characters that SASLprep (RFC 4013) does not allow")

// oauthBearer is the mechanism of RFC 7628 in Kafka's variant (KIP-255): the client sends the token
// first, and the broker's response is empty or an error.
type oauthBearer struct{ token string }

// Name implements sasl.Mechanism.
func (oauthBearer) Name() string { return OAuthBearer }

// Start implements sasl.Mechanism.
func (m oauthBearer) Start(context.Context) (sasl.StateMachine, []byte, error) {
	return m, []byte("n,,\x01auth=Bearer " + m.token + "\x01\x01"), nil
}

// Next implements sasl.StateMachine.
func (oauthBearer) Next(_ context.Context, challenge []byte) (done bool, response []byte, err error) {
	if len(challenge) == 0 {
		return true, nil, nil
	}
	// RFC 7628, section 3.2.2: the response describes the error of the token.
	var refused struct {
		Status string `json:"status"`
		Scope  string `json:"scope"`
	}
	if err := json.Unmarshal(challenge, &refused); err != nil || refused.Status == "" {
		return false, nil, errors.New("the broker does not take the token, and its reason makes no sense")
	}
	because := []string{"the broker does not take the token: " + refused.Status}
	if refused.Scope != "" {
		because = append(because, "it wants scope "+refused.Scope)
	}
	return false, nil, fmt.Errorf("%s", strings.Join(because, "; "))
}
