package guard

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"regexp"
)

// setHeaders tells browsers what not to do with an answer. Handlers of pages loosen the policy of
// what may be loaded.
func setHeaders(h http.Header, tls bool) {
	h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	if tls {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

var inline = regexp.MustCompile(`(?s)<(script|style)>(.*?)</`)

// PagePolicy lets a page run and show what it brings itself, ask this process, and nothing else.
func PagePolicy(page []byte) string {
	allowed := map[string]string{"script": "", "style": ""}
	for _, found := range inline.FindAllSubmatch(page, -1) {
		sum := sha256.Sum256(found[2])
		allowed[string(found[1])] += fmt.Sprintf(" 'sha256-%s'", base64.StdEncoding.EncodeToString(sum[:]))
	}
	return fmt.Sprintf("default-src 'none'; connect-src 'self'; script-src%s; style-src%s; base-uri 'none'; "+
		"form-action 'none'; frame-ancestors 'none'", allowed["script"], allowed["style"])
}
