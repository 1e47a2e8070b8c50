package guard

import "net/http"

// setHeaders tells browsers what not to do with an answer. Handlers of pages loosen the policy of
// what may be loaded, and of what may be kept where it is not anybody's.
func setHeaders(h http.Header, tls bool) {
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("Cross-Origin-Embedder-Policy", "require-corp")
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
