package guard

import (
	"context"
	"errors"
	"net/http"
	"strings"
)

// Verifier checks tokens of an external issuer. Its errors are ErrAway, ErrSeldom, ErrExpired and ErrUnknown.
type Verifier interface {
	Verify(ctx context.Context, token string) (Person, error)
}

// The errors of a token of an external issuer.
var (
	// ErrAway: the issuer cannot be reached at present.
	ErrAway = errors.New("the issuer of the token does not answer")
	// ErrExpired: the token has expired.
	ErrExpired = errors.New("the token has expired")
	// ErrSeldom: it is signed with an unknown key, and the issuer's keys were fetched a moment ago.
	ErrSeldom = errors.New("the token is signed with none of the known keys of its issuer, which was asked for them a " +
		"moment ago")
	// ErrUnknown: it is from another issuer, for another deployment, or malformed.
	ErrUnknown = errors.New("the token is not known")
)

// asksNobody reports whether there is no authentication: all callers have all rights.
func (o Options) asksNobody() bool { return o.Tokens == nil && o.Verifier == nil }

// person authenticates the caller: by a token in the header, or by the session of a browser. A
// non-zero status rejects the request.
func (g *Guard) person(r *http.Request, open bool) (p Person, status int, detail string) {
	if g.o.asksNobody() {
		return Anybody(), 0, ""
	}
	if token, given := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); given {
		return g.o.owner(r.Context(), token)
	}
	if open {
		return Person{}, 0, ""
	}
	found, known := g.sessions.find(r, g.o.cookieName(), g.o.Now())
	switch {
	case !known:
		return p, http.StatusUnauthorized, "a token is needed: Authorization: Bearer TOKEN"
	case changes(r) && !found.proves(r):
		return p, http.StatusForbidden, "the request does not repeat what the session gave"
	default:
		p = found.person
		p.Expires, p.over = found.ends, found.over
		return p, 0, ""
	}
}

// owner returns the person of a token. A non-zero status is the reason of a rejection.
func (o Options) owner(ctx context.Context, token string) (p Person, status int, detail string) {
	p, err := o.find(ctx, token)
	switch {
	case errors.Is(err, ErrAway):
		return p, http.StatusServiceUnavailable, ErrAway.Error() + "; try again in a moment"
	case errors.Is(err, ErrSeldom):
		return p, http.StatusTooManyRequests, ErrSeldom.Error() + "; try again in 10 seconds"
	case err != nil:
		return p, http.StatusUnauthorized, err.Error()
	case !p.Expires.IsZero() && !o.Now().Before(p.Expires):
		return p, http.StatusUnauthorized, ErrExpired.Error()
	default:
		return p, 0, ""
	}
}

// find looks up a token of the file, or verifies one of an external issuer.
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
