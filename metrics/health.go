package metrics

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Health knows whether the process is alive and ready. It may be used from
// several goroutines.
//
// Ready means that work can be given to it: a broker that cannot be reached
// makes it not ready. Not alive means that only a new process helps: a store
// that is corrupt, a role that has ended. Reasons are shown to whoever asks,
// so they carry no personal data.
type Health struct {
	mu     sync.Mutex
	ready  map[string]string // component to reason, empty if ready
	failed map[string]string // component to reason
}

// NewHealth returns the health of a process that is alive and not ready until
// Set says so of every component.
func NewHealth(components ...string) *Health {
	h := &Health{ready: map[string]string{}, failed: map[string]string{}}
	for _, component := range components {
		h.ready[component] = "starting"
	}
	return h
}

// Set says whether a component is ready, and if not, why.
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

// Fail says that a component cannot recover in this process. It stays so.
func (h *Health) Fail(component, reason string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if reason == "" {
		reason = "no reason given"
	}
	h.failed[component] = reason
}

// readiness returns the verdict and the lines that explain it, of one moment.
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

// LiveHandler answers /livez: 200, or 503 and the reasons.
func (h *Health) LiveHandler() http.Handler {
	return h.answer(func() (bool, string) {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.failed) == 0, lines(h.failed)
	})
}

// ReadyHandler answers /readyz: 200 or 503, with a line for every component.
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
