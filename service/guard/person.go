package guard

import (
	"context"
	"errors"
	"net/http"
	"strings"
)

// Verifier checks tokens that others have issued. Its errors are ErrAway, ErrExpired and ErrUnknown.
type Verifier interface {
	Verify(ctx context.Context, token string) (Person, error)
}

// What is wrong with the token of somebody else.
var (
	// ErrAway: whoever issued it cannot be asked at present.
	ErrAway = errors.New("the issuer of the token does not answer")
	// ErrExpired: it is over.
	ErrExpired = errors.New("the token has expired")
	// ErrUnknown: it is not of the issuer, not for this deployment, or no token.
	ErrUnknown = errors.New("the token is not known")
)

// person finds out who asks. A status that is not 0 refuses the request.
func (o Options) person(r *http.Request, open bool) (p Person, status int, detail string) {
	if o.Tokens == nil && o.Verifier == nil {
		return Anybody(), 0, ""
	}
	token, given := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !given {
		if open {
			return Person{}, 0, ""
		}
		return p, http.StatusUnauthorized, "a token is needed: Authorization: Bearer TOKEN"
	}
	p, err := o.find(r.Context(), token)
	switch {
	case errors.Is(err, ErrAway):
		return p, http.StatusServiceUnavailable, ErrAway.Error() + "; try again in a moment"
	case err != nil:
		return p, http.StatusUnauthorized, err.Error()
	case !p.Expires.IsZero() && !o.Now().Before(p.Expires):
		return p, http.StatusUnauthorized, ErrExpired.Error()
	default:
		return p, 0, ""
	}
}

// find looks a token up among those of the file, or has it checked if it is one of somebody else.
func (o Options) find(ctx context.Context, token string) (Person, error) {
	if o.Tokens != nil {
		if p, known := o.Tokens.Find(token); known {
			return p, nil
		}
	}
	if o.Verifier == nil || strings.HasPrefix(token, tokenPrefix) {
		return Person{}, ErrUnknown
	}
	return o.Verifier.Verify(ctx, token)
}
