package service

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// guarded keeps other people's pages out. A browser takes a page under a name of its own to this
// service if that name is made to stand for its address: what such a page asks for has its name as
// Host. So pages and API answer addresses, localhost and the names that the configuration lists. Health
// and metrics, which Prometheus reads by any name, hold nothing personal and answer all.
func guarded(hosts []string, next http.Handler) http.Handler {
	policy := contentPolicy(statusPage)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Content-Security-Policy", policy)
		if private(r.URL.Path) && !isOwn(r.Host, hosts) {
			http.Error(w, "nothing is served under this name: use an address or localhost, or list the name in http.hosts",
				http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// private reports whether a path tells of the stream, or changes anything.
func private(path string) bool {
	return !slices.Contains([]string{"/metrics", "/livez", "/readyz"}, path)
}

// isOwn reports whether a Host is an address, localhost or one of some names.
func isOwn(host string, hosts []string) bool {
	name := host
	if only, _, err := net.SplitHostPort(host); err == nil {
		name = only
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return name == "localhost" ||
		slices.ContainsFunc(hosts, func(own string) bool { return strings.EqualFold(own, name) })
}

var inline = regexp.MustCompile(`(?s)<(script|style)>(.*?)</`)

// contentPolicy lets a page run and show what it brings itself, ask this service, and nothing else.
func contentPolicy(page []byte) string {
	allowed := map[string]string{"script": "", "style": ""}
	for _, found := range inline.FindAllSubmatch(page, -1) {
		sum := sha256.Sum256(found[2])
		allowed[string(found[1])] += fmt.Sprintf(" 'sha256-%s'", base64.StdEncoding.EncodeToString(sum[:]))
	}
	return fmt.Sprintf("default-src 'none'; connect-src 'self'; script-src%s; style-src%s; base-uri 'none'; "+
		"form-action 'none'; frame-ancestors 'none'", allowed["script"], allowed["style"])
}
