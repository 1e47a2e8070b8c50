package guard

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Options says who gets in.
type Options struct {
	// Hosts are the names under which the process may be asked, besides addresses and localhost:
	// a page of another site may have made a name of its own mean this machine. "*" is any.
	Hosts []string
	// Tokens, if not nil, are asked for at every address but Open ones.
	Tokens *Tokens
	// Open are the paths that need no token: health checks, and what holds nothing personal.
	Open []string
	// MaxBody bounds bodies, in bytes.
	MaxBody int64
	// PerSecond is how many requests a client may make, 0 for any number.
	PerSecond int
	// TLS says that browsers may be told to come by TLS alone.
	TLS bool
	// Refuse answers a request that does not get in.
	Refuse func(w http.ResponseWriter, status int, detail string)
	// Now is the clock.
	Now func() time.Time
}

// Guard is what stands before a handler.
type Guard struct {
	o       Options
	next    http.Handler
	sites   *http.CrossOriginProtection
	clients *clients
}

// Before returns a handler that lets through to next what may.
func Before(next http.Handler, o Options) *Guard {
	return &Guard{o: o, next: next, sites: http.NewCrossOriginProtection(), clients: newClients(o.PerSecond)}
}

// ServeHTTP implements http.Handler.
func (g *Guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header(), g.o.TLS)
	if !g.o.asks(r.Host) {
		g.o.Refuse(w, http.StatusForbidden, "lethe is not asked under this name; http.hosts lists those that it is")
		return
	}
	if wait := g.clients.wait(clientOf(r), g.o.Now()); wait > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(int(wait/time.Second)+1))
		g.o.Refuse(w, http.StatusTooManyRequests, "too many requests; try again in a moment")
		return
	}
	if err := g.sites.Check(r); err != nil {
		g.o.Refuse(w, http.StatusForbidden, "a page of another site may not ask this")
		return
	}
	if r.ContentLength > g.o.MaxBody {
		g.o.Refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d bytes", g.o.MaxBody))
		return
	}
	r.Body = readInTime(w, http.MaxBytesReader(w, r.Body, g.o.MaxBody), r.ContentLength == 0)
	person, status, detail := g.o.person(r)
	if status != 0 {
		if status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Bearer realm="lethe"`)
		}
		g.o.Refuse(w, status, detail)
		return
	}
	g.next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), personKey{}, person)))
}

// asks reports whether a process may be asked under a name.
func (o Options) asks(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if _, err := netip.ParseAddr(name); err == nil || name == "localhost" {
		return true
	}
	return slices.ContainsFunc(o.Hosts, func(known string) bool { return known == "*" || strings.EqualFold(known, name) })
}

// clientOf is the address that a request comes from.
func clientOf(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap()
}

type personKey struct{}

// PersonOf is who asks. Without a guard it is nobody, who may do nothing.
func PersonOf(r *http.Request) Person {
	p, _ := r.Context().Value(personKey{}).(Person)
	return p
}

// person finds out who asks. A status that is not 0 refuses the request.
func (o Options) person(r *http.Request) (p Person, status int, detail string) {
	if o.Tokens == nil {
		return Anybody(), 0, ""
	}
	token, given := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !given {
		if slices.Contains(o.Open, r.URL.Path) {
			return Person{}, 0, ""
		}
		return p, http.StatusUnauthorized, "a token is needed: Authorization: Bearer TOKEN"
	}
	p, known := o.Tokens.Find(token)
	switch {
	case !known:
		return p, http.StatusUnauthorized, "the token is not known"
	case !p.Expires.IsZero() && !o.Now().Before(p.Expires):
		return p, http.StatusUnauthorized, "the token has expired"
	default:
		return p, 0, ""
	}
}
