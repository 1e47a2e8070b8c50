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
	// SessionPath is where a browser gives a token (POST), asks who it is (GET) and leaves (DELETE).
	SessionPath = "/session"
	// ProofHeader carries what a page has read from SessionPath, in every request that changes
	// something: a page of another site cannot read it, and a form cannot send it.
	ProofHeader = "X-Lethe-Session"

	sessionLasts = 12 * time.Hour
	// mostSessions are kept; beyond it the one that ends first is left out.
	mostSessions = 4096
	mostTokenLen = 16 << 10
)

// sessions are those of browsers: whoever has shown a token goes on under a cookie that no script
// can read, and that no other site's pages bring along. They end with the process.
type sessions struct {
	mu sync.Mutex
	// open are by the hash of what the cookie holds.
	open map[[sha256.Size]byte]session
}

type session struct {
	person Person
	// proof is what requests that change something must repeat.
	proof string
	ends  time.Time
	// over is closed when the session ends; event streams end with it.
	over chan struct{}
}

func newSessions() *sessions { return &sessions{open: make(map[[sha256.Size]byte]session)} }

// begin opens a session and returns what its cookie holds.
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

// drop leaves out the session that ends first.
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

// close ends a session, if it is there.
func (s *sessions) close(key [sha256.Size]byte) {
	if one, known := s.open[key]; known {
		close(one.over)
		delete(s.open, key)
	}
}

// find returns the session of a request, if its cookie is of one that has not ended.
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

// changes reports whether a request may change something.
func changes(r *http.Request) bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodOptions
}

// cookieName is bound to this host and to TLS by its prefix, where there is TLS.
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

// SessionAnswer says who asks.
type SessionAnswer struct {
	// Login says that a token has to be shown first.
	Login bool     `json:"login"`
	Name  string   `json:"name"`
	May   []string `json:"may"`
	// Proof is repeated in ProofHeader.
	Proof string     `json:"proof"`
	Ends  *time.Time `json:"ends"`
}

// serveSession answers at SessionPath.
func (g *Guard) serveSession(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if g.o.asksNobody() {
		tell(w, SessionAnswer{May: Anybody().Rights.names()})
		return
	}
	now := g.o.Now()
	found, known := g.sessions.find(r, g.o.cookieName(), now)
	switch r.Method {
	case http.MethodGet:
		if !known {
			tell(w, SessionAnswer{Login: true, May: []string{}})
			return
		}
		tell(w, answerOf(found))
	case http.MethodPost:
		g.logIn(w, r)
	case http.MethodDelete:
		if known && !found.proves(r) {
			g.o.Refuse(w, http.StatusForbidden, "the request does not repeat what the session gave")
			return
		}
		g.sessions.end(r, g.o.cookieName())
		http.SetCookie(w, g.o.cookie("", time.Unix(1, 0)))
		tell(w, SessionAnswer{Login: true, May: []string{}})
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
	tell(w, answerOf(fresh))
}

func answerOf(s session) SessionAnswer {
	ends := s.ends.UTC()
	return SessionAnswer{Name: s.person.Name, May: s.person.Rights.names(), Proof: s.proof, Ends: &ends}
}

func tell(w http.ResponseWriter, answer SessionAnswer) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(answer) //nolint:errcheck // the caller went away
}
