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
	// Hosts are the names under which the process may be asked, besides addresses and localhost. A
	// browser takes a page under a name of its own to this process if that name is made to stand for
	// its address: what such a page asks for has its name as Host. "*" is any.
	Hosts []string
	// Tokens, if not nil, are asked for at every address but Open ones.
	Tokens *Tokens
	// Verifier, if not nil, checks the tokens of somebody else, which are JSON web tokens.
	Verifier Verifier
	// Open are the paths that need no token and answer under any name: health checks, and metrics,
	// which Prometheus reads by any. They hold nothing personal.
	Open []string
	// Public, if not nil, says which paths need no token besides: the parts of pages, which hold
	// nothing personal and ask for everything else.
	Public func(path string) bool
	// MaxBody bounds bodies, in bytes.
	MaxBody int64
	// Health are the Open paths that answer however often they are asked: a client that is busy, or another one behind
	// its address, must not have the process taken for dead.
	Health []string
	// LargeBodies is how many requests with a body of more than largeBody bytes, or of a length that is not said, are
	// served at once; 0 for any number.
	LargeBodies int
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
	// sessions are those of browsers that have shown a token.
	sessions *sessions
	// large holds one for every request with a large body that is served.
	large chan struct{}
}

// largeBody is more than what most requests hold. What is read of a body takes several times its size in memory.
const largeBody = 64 << 10

// Before returns a handler that lets through to next what may.
func Before(next http.Handler, o Options) *Guard {
	return &Guard{
		o: o, next: next, sites: http.NewCrossOriginProtection(), clients: newClients(o.PerSecond),
		sessions: newSessions(), large: make(chan struct{}, o.LargeBodies),
	}
}

// ServeHTTP implements http.Handler.
func (g *Guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header(), g.o.TLS)
	open := slices.Contains(g.o.Open, r.URL.Path)
	if !open && !IsOwn(r.Host, g.o.Hosts) {
		g.o.Refuse(w, http.StatusMisdirectedRequest,
			"nothing is served under this name: use an address or localhost, or list the name in http.hosts")
		return
	}
	if slices.Contains(g.o.Health, r.URL.Path) {
		r.Body = http.NoBody
	} else if wait := g.clients.wait(clientOf(r), g.o.Now()); wait > 0 {
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
	if r.URL.Path == SessionPath {
		g.serveSession(w, r)
		return
	}
	person, status, detail := g.person(r, open || g.o.Public != nil && g.o.Public(r.URL.Path))
	if status != 0 {
		if status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Bearer realm="lethe"`)
		}
		g.o.Refuse(w, status, detail)
		return
	}
	if !g.admitBody(r) {
		w.Header().Set("Retry-After", "1")
		g.o.Refuse(w, http.StatusTooManyRequests, "too many large requests at once; try again in a moment")
		return
	}
	defer g.releaseBody(r)
	ctx := context.WithValue(r.Context(), personKey{}, person)
	if !person.Expires.IsZero() { // what goes on, as a stream of events, ends with the token
		var end context.CancelFunc
		ctx, end = context.WithTimeout(ctx, person.Expires.Sub(g.o.Now()))
		defer end()
		go func() {
			select {
			case <-person.over: // or with the session, when the browser leaves
				end()
			case <-ctx.Done():
			}
		}()
	}
	g.next.ServeHTTP(w, r.WithContext(ctx))
}

func (g *Guard) isLarge(r *http.Request) bool {
	return cap(g.large) > 0 && (r.ContentLength < 0 || r.ContentLength > largeBody)
}

// admitBody reports whether the body of a request may be read now.
func (g *Guard) admitBody(r *http.Request) bool {
	if !g.isLarge(r) {
		return true
	}
	select {
	case g.large <- struct{}{}:
		return true
	default:
		return false
	}
}

func (g *Guard) releaseBody(r *http.Request) {
	if g.isLarge(r) {
		<-g.large
	}
}

// IsOwn reports whether a Host is an address, localhost or one of some names.
func IsOwn(host string, names []string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if _, err := netip.ParseAddr(name); err == nil || name == "localhost" {
		return true
	}
	return slices.ContainsFunc(names, func(own string) bool { return own == "*" || strings.EqualFold(own, name) })
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
func PersonOf(r *http.Request) Person { return PersonIn(r.Context()) }

// PersonIn is who makes the request of a context.
func PersonIn(ctx context.Context) Person {
	p, _ := ctx.Value(personKey{}).(Person)
	return p
}
