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

// Options configures access.
type Options struct {
	// Hosts are the allowed host names, besides addresses and localhost. This prevents DNS
	// rebinding: a site may point its name at this process's address, and requests of its pages
	// then have that name as Host. "*" allows any.
	Hosts []string
	// Tokens, if not nil, are required at every path except Open ones.
	Tokens *Tokens
	// Verifier, if not nil, checks the tokens of an external issuer, which are JSON web tokens.
	Verifier Verifier
	// Open are the paths that need no token and accept any host name: health checks, and metrics,
	// because Prometheus may use any name. They contain no personal data.
	Open []string
	// Public, if not nil, selects additional paths that need no token: the files of pages, which
	// contain no personal data and get everything else from the API.
	Public func(path string) bool
	// MaxBody bounds request bodies, in bytes.
	MaxBody int64
	// Health are the Open paths without a rate limit: a busy client, or another one behind the same address, must
	// not make the process appear down.
	Health []string
	// LargeBodies is how many requests with a body over largeBody bytes, or of unknown length, are served at
	// once; 0 means no limit.
	LargeBodies int
	// PerSecond is the rate limit per client, 0 means no limit.
	PerSecond int
	// TLS means that browsers may be instructed to use only TLS.
	TLS bool
	// Refuse responds to a rejected request.
	Refuse func(w http.ResponseWriter, status int, detail string)
	// Now is the clock.
	Now func() time.Time
}

// Guard is the access control in front of a handler.
type Guard struct {
	o       Options
	next    http.Handler
	sites   *http.CrossOriginProtection
	clients *clients
	// sessions are those of browsers that have presented a token.
	sessions *sessions
	// large holds one token for every request with a large body in progress.
	large chan struct{}
}

// largeBody is larger than most request bodies. Parsing a body takes several times its size in memory.
const largeBody = 64 << 10

// Before returns a handler that passes allowed requests to next.
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
	if !person.Expires.IsZero() { // long responses, such as event streams, end with the token
		var end context.CancelFunc
		ctx, end = context.WithTimeout(ctx, person.Expires.Sub(g.o.Now()))
		defer end()
		go func() {
			select {
			case <-person.over: // or with the session, when the browser logs out
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

// IsOwn reports whether a Host is an address, localhost or one of the names.
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

// clientOf is the address of the client.
func clientOf(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap()
}

type personKey struct{}

// PersonOf returns the person who makes a request. Without a guard it is the zero Person, without
// rights.
func PersonOf(r *http.Request) Person { return PersonIn(r.Context()) }

// PersonIn returns the person who makes the request of a context.
func PersonIn(ctx context.Context) Person {
	p, _ := ctx.Value(personKey{}).(Person)
	return p
}
