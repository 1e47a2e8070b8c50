package guard

import (
	"context"
	"errors"
	"net/http"
	"strings"
)

// Verifier checks tokens that others have issued. Its errors are ErrAway, ErrSeldom, ErrExpired and ErrUnknown.
type Verifier interface {
	Verify(ctx context.Context, token string) (Person, error)
}

// What is wrong with the token of somebody else.
var (
	// ErrAway: whoever issued it cannot be asked at present.
	ErrAway = errors.New("the issuer of the token does not answer")
	// ErrExpired: it is over.
	ErrExpired = errors.New("the token has expired")
	// ErrSeldom: it is signed with none of the keys that are known, and the issuer was asked for its keys a moment ago.
	ErrSeldom = errors.New("the token is signed with none of the known keys of its issuer, which was asked for them a " +
		"moment ago")
	// ErrUnknown: it is not of the issuer, not for this deployment, or no token.
	ErrUnknown = errors.New("the token is not known")
)

// asksNobody says that whoever reaches the process may do everything.
func (o Options) asksNobody() bool { return o.Tokens == nil && o.Verifier == nil }

// person finds out who asks: by a token in the header, or by the session of a browser. A status
// that is not 0 refuses the request.
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

// owner returns whose token it is. A status that is not 0 says why it lets nobody in.
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
