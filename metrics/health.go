package metrics

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Health tracks whether the process is alive and ready. It is safe for concurrent use.
//
// Ready means that the process can accept work: an unreachable broker makes it not ready. Not alive
// means that only a restart helps: a corrupt store, a role that has ended. Reasons are public, so
// they contain no personal data.
type Health struct {
	mu     sync.Mutex
	ready  map[string]string // component to reason, empty if ready
	failed map[string]string // component to reason
}

// NewHealth returns the health of a process that is alive, and not ready until Set has marked every
// component as ready.
func NewHealth(components ...string) *Health {
	h := &Health{ready: map[string]string{}, failed: map[string]string{}}
	for _, component := range components {
		h.ready[component] = "starting"
	}
	return h
}

// Set records whether a component is ready, and if not, why.
func (h *Health) Set(component string, ok bool, reason string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if ok {
		reason = ""
	} else if reason == "" {
		reason = "no reason given"
	}
	h.ready[component] = reason
}

// Fail marks a component as unrecoverable in this process. This is permanent.
func (h *Health) Fail(component, reason string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if reason == "" {
		reason = "no reason given"
	}
	h.failed[component] = reason
}

// readiness returns a consistent verdict and the lines that explain it.
func (h *Health) readiness() (bool, string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := maps.Clone(h.ready)
	maps.Copy(all, h.failed)
	ok := len(h.failed) == 0
	for _, reason := range h.ready {
		ok = ok && reason == ""
	}
	return ok, lines(all)
}

// LiveHandler serves /livez: 200, or 503 and the reasons.
func (h *Health) LiveHandler() http.Handler {
	return h.answer(func() (bool, string) {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.failed) == 0, lines(h.failed)
	})
}

// ReadyHandler serves /readyz: 200 or 503, with a line for every component.
func (h *Health) ReadyHandler() http.Handler { return h.answer(h.readiness) }

func lines(reasons map[string]string) string {
	var b strings.Builder
	for _, component := range slices.Sorted(maps.Keys(reasons)) {
		if reason := reasons[component]; reason != "" {
			fmt.Fprintf(&b, "%s: not ok: %s\n", component, reason)
			continue
		}
		fmt.Fprintf(&b, "%s: ok\n", component)
	}
	return b.String()
}

func (h *Health) answer(check func() (bool, string)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		ok, text := check()
		verdict := "ok\n"
		if !ok {
			w.WriteHeader(http.StatusServiceUnavailable)
			verdict = "not ok\n"
		}
		fmt.Fprint(w, text+verdict)
	})
}
