package guard

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"mime"
	"net/http"
	"sync"
	"time"
)

const (
	// SessionPath is the path for logging in with a token (POST), reading the session (GET) and
	// logging out (DELETE).
	SessionPath = "/session"
	// ProofHeader carries a value that a page has read from SessionPath, in every request that
	// changes something (CSRF protection): a page of another site cannot read it, and a form
	// cannot send it.
	ProofHeader = "X-Lethe-Session"

	sessionLasts = 12 * time.Hour
	// mostSessions bounds the number of sessions; beyond it the one that expires first is dropped.
	mostSessions = 4096
	mostTokenLen = 16 << 10
)

// sessions are the sessions of browsers: after presenting a token a browser uses a cookie that no
// script can read, and that is not sent with requests of other sites. They end with the process.
type sessions struct {
	mu sync.Mutex
	// open are the sessions by the hash of their cookie.
	open map[[sha256.Size]byte]session
}

type session struct {
	person Person
	// proof must be repeated in requests that change something.
	proof string
	ends  time.Time
	// over is closed when the session ends; event streams end with it.
	over chan struct{}
}

func newSessions() *sessions { return &sessions{open: make(map[[sha256.Size]byte]session)} }

// begin opens a session and returns the value of its cookie.
func (s *sessions) begin(p Person, now time.Time) (cookie string, _ session, err error) {
	secret := make([]byte, 2*sha256.Size)
	if _, err := rand.Read(secret); err != nil {
		return "", session{}, err
	}
	cookie = base64.RawURLEncoding.EncodeToString(secret[:sha256.Size])
	fresh := session{
		p, base64.RawURLEncoding.EncodeToString(secret[sha256.Size:]), now.Add(sessionLasts), make(chan struct{}),
	}
	if !p.Expires.IsZero() && p.Expires.Before(fresh.ends) {
		fresh.ends = p.Expires
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, old := range s.open {
		if !now.Before(old.ends) {
			s.close(key)
		}
	}
	if len(s.open) >= mostSessions {
		s.drop()
	}
	s.open[sha256.Sum256([]byte(cookie))] = fresh
	return cookie, fresh, nil
}

// drop removes the session that expires first.
func (s *sessions) drop() {
	var first [sha256.Size]byte
	var ends time.Time
	for key, one := range s.open {
		if ends.IsZero() || one.ends.Before(ends) {
			first, ends = key, one.ends
		}
	}
	s.close(first)
}

// close ends a session, if it exists.
func (s *sessions) close(key [sha256.Size]byte) {
	if one, known := s.open[key]; known {
		close(one.over)
		delete(s.open, key)
	}
}

// find returns the session of a request, if its cookie belongs to one that has not ended.
func (s *sessions) find(r *http.Request, name string, now time.Time) (session, bool) {
	cookie, err := r.Cookie(name)
	if err != nil {
		return session{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found, known := s.open[sha256.Sum256([]byte(cookie.Value))]
	return found, known && now.Before(found.ends)
}

func (s *sessions) end(r *http.Request, name string) {
	if cookie, err := r.Cookie(name); err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.close(sha256.Sum256([]byte(cookie.Value)))
	}
}

// proves reports whether a request repeats the session's proof.
func (s session) proves(r *http.Request) bool {
	return subtle.ConstantTimeCompare([]byte(r.Header.Get(ProofHeader)), []byte(s.proof)) == 1
}

// changes reports whether a request may change something, by its method.
func changes(r *http.Request) bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodOptions
}

// cookieName has a prefix that binds the cookie to this host and to TLS, if TLS is used.
func (o Options) cookieName() string {
	if o.TLS {
		return "__Host-lethe"
	}
	return "lethe"
}

func (o Options) cookie(value string, ends time.Time) *http.Cookie {
	return &http.Cookie{
		Name: o.cookieName(), Value: value, Path: "/", Expires: ends, Secure: o.TLS, HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
	}
}

// SessionAnswer describes the caller.
type SessionAnswer struct {
	// Login means that a token has to be presented first.
	Login bool     `json:"login"`
	Name  string   `json:"name"`
	May   []string `json:"may"`
	// Proof must be repeated in ProofHeader.
	Proof string     `json:"proof"`
	Ends  *time.Time `json:"ends"`
}

// serveSession handles SessionPath.
func (g *Guard) serveSession(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if g.o.asksNobody() {
		respond(w, SessionAnswer{May: Anybody().Rights.names()})
		return
	}
	now := g.o.Now()
	found, known := g.sessions.find(r, g.o.cookieName(), now)
	switch r.Method {
	case http.MethodGet:
		if !known {
			respond(w, SessionAnswer{Login: true, May: []string{}})
			return
		}
		respond(w, answerOf(found))
	case http.MethodPost:
		g.logIn(w, r)
	case http.MethodDelete:
		if known && !found.proves(r) {
			g.o.Refuse(w, http.StatusForbidden, "the request does not repeat what the session gave")
			return
		}
		g.sessions.end(r, g.o.cookieName())
		http.SetCookie(w, g.o.cookie("", time.Unix(1, 0)))
		respond(w, SessionAnswer{Login: true, May: []string{}})
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		g.o.Refuse(w, http.StatusMethodNotAllowed, "the address is not asked so; see the header Allow")
	}
}

func (g *Guard) logIn(w http.ResponseWriter, r *http.Request) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		g.o.Refuse(w, http.StatusUnsupportedMediaType, "send application/json")
		return
	}
	var asked struct {
		Token string `json:"token"`
	}
	if json.NewDecoder(http.MaxBytesReader(w, r.Body, mostTokenLen)).Decode(&asked) != nil {
		g.o.Refuse(w, http.StatusBadRequest, "the body is no token")
		return
	}
	now := g.o.Now()
	p, status, detail := g.o.owner(r.Context(), asked.Token)
	if status != 0 {
		g.o.Refuse(w, status, detail)
		return
	}
	g.sessions.end(r, g.o.cookieName())
	cookie, fresh, err := g.sessions.begin(p, now)
	if err != nil {
		g.o.Refuse(w, http.StatusInternalServerError, "there is no randomness")
		return
	}
	http.SetCookie(w, g.o.cookie(cookie, fresh.ends))
	respond(w, answerOf(fresh))
}

func answerOf(s session) SessionAnswer {
	ends := s.ends.UTC()
	return SessionAnswer{Name: s.person.Name, May: s.person.Rights.names(), Proof: s.proof, Ends: &ends}
}

func respond(w http.ResponseWriter, answer SessionAnswer) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(answer) //nolint:errcheck // the caller went away
}
