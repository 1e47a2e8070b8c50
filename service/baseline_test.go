package service_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/service/api"
	"lethe/service/guard"
	"lethe/service/servicetest"
)

// exchange is a request of the scan, and what was answered.
type exchange struct {
	request string
	servicetest.Answer
}

// rule is one of the passive rules of ZAP's baseline scan, under its number there, and returns what is
// wrong with an answer.
type rule struct {
	number int
	name   string
	wrong  func(e exchange) string
}

func lacks(header, part string) func(exchange) string {
	return func(e exchange) string {
		if got := e.Header.Get(header); !strings.Contains(got, part) {
			return fmt.Sprintf("%s is %q, want %q in it", header, got, part)
		}
		return ""
	}
}

func has(headers ...string) func(exchange) string {
	return func(e exchange) string {
		for _, name := range headers {
			if got := e.Header.Get(name); got != "" {
				return name + " is " + got
			}
		}
		return ""
	}
}

func shows(pattern string) func(exchange) string {
	what := regexp.MustCompile(pattern)
	return func(e exchange) string { return what.FindString(e.Text) }
}

func onPages(wrong func(exchange) string) func(exchange) string {
	return func(e exchange) string {
		if !strings.HasPrefix(e.Header.Get("Content-Type"), "text/html") {
			return ""
		}
		return wrong(e)
	}
}

// cookie checks that every cookie has an attribute.
func cookie(attribute string) func(exchange) string {
	return func(e exchange) string {
		for _, line := range e.Header.Values("Set-Cookie") {
			if !strings.Contains(line, attribute) {
				return "a cookie without " + attribute
			}
		}
		return ""
	}
}

// baseline are the rules of zap-baseline.py that an answer can break by itself.
func baseline() []rule {
	return []rule{
		{10010, "cookie without HttpOnly", cookie("; HttpOnly")},
		{10011, "cookie without Secure", cookie("; Secure")},
		{10054, "cookie without SameSite", cookie("; SameSite=Strict")},
		{90033, "loosely scoped cookie", func(e exchange) string {
			for _, line := range e.Header.Values("Set-Cookie") {
				if strings.Contains(line, "Domain=") || !strings.HasPrefix(line, "__Host-") {
					return "a cookie for more than this host"
				}
			}
			return ""
		}},
		{10015, "cache control", func(e exchange) string {
			if got := e.Header.Get("Cache-Control"); !strings.Contains(got, "no-store") && !strings.Contains(got, "no-cache") {
				return fmt.Sprintf("Cache-Control is %q", got)
			}
			return ""
		}},
		{10019, "content type missing", func(e exchange) string {
			if e.Text != "" && e.Header.Get("Content-Type") == "" {
				return "no Content-Type"
			}
			return ""
		}},
		{10020, "framed by others", lacks("X-Frame-Options", "DENY")},
		{10021, "content sniffed", lacks("X-Content-Type-Options", "nosniff")},
		{10035, "no strict transport security", lacks("Strict-Transport-Security", "max-age=")},
		{10038, "no content security policy", lacks("Content-Security-Policy", "default-src 'none'")},
		{10055, "weak content security policy", func(e exchange) string {
			policy := e.Header.Get("Content-Security-Policy")
			return regexp.MustCompile(`unsafe-\w+|\*|https?:|data:`).FindString(policy)
		}},
		{10063, "no permissions policy", lacks("Permissions-Policy", "camera=()")},
		{90004, "not isolated (opener)", lacks("Cross-Origin-Opener-Policy", "same-origin")},
		{90004, "not isolated (resource)", lacks("Cross-Origin-Resource-Policy", "same-origin")},
		{90004, "not isolated (embedder)", lacks("Cross-Origin-Embedder-Policy", "require-corp")},
		{10036, "the server tells what it is", has("Server", "X-Powered-By", "X-AspNet-Version", "X-Debug-Token", "Via")},
		{10098, "other origins allowed", has("Access-Control-Allow-Origin")},
		{10028, "redirects elsewhere", func(e exchange) string {
			if to := e.Header.Get("Location"); strings.HasPrefix(to, "//") || strings.Contains(to, ":") {
				return fmt.Sprint(e.Status, " to ", to)
			}
			return ""
		}},
		{10023, "errors for developers", shows(`goroutine \d+|panic:|runtime error|\.go:\d+|/work/|/home/`)},
		{10033, "a folder is listed", shows(`(?i)<pre>\s*<a href|index of /`)},
		{10017, "scripts of others", onPages(shows(`(?i)<(script|link|img)[^>]*(src|href)="(https?:)?//`))},
		{10040, "mixed content", onPages(shows(`(?i)(src|href|action)="http:`))},
		{10055, "scripts in pages", onPages(shows(`(?i)<script(\s[^>]*)?>\s*[^<\s]|<style|\son[a-z]+\s*=`))},
		{10027, "comments for developers", onPages(shows(`(?i)<!--.*(todo|fixme|bug|admin|password)`))},
		{10024, "secrets repeated", shows(`lethe_[A-Za-z0-9_-]{43}\b`)},
		{10062, "what was sent is repeated in an error", func(e exchange) string {
			if e.StatusCode >= http.StatusBadRequest {
				return shows(marked)(e)
			}
			return ""
		}},
	}
}

// marked is an id that stands in requests which are refused.
const marked = "17-marked-17"

// Every route, asked without a token, with a wrong one, as every role, and wrongly, keeps the rules of
// ZAP's baseline scan.
func TestBaseline(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, t.TempDir())
	tokens := people(t, &c, guard.Roles()...)
	client := overTLS(t, &c)
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.HTTP.RequestsPerSecond = 0
	s := start(t, c)
	tokens["nobody"], tokens["guess"] = "", "lethe_guess"

	checked, rules := 0, baseline()
	ask := func(who, method, path, body string, headers ...string) exchange {
		headers = append(headers, "Authorization", servicetest.Bearer(tokens[who]))
		answer := servicetest.AskThrough(t, client, method, "https://"+s.HTTPAddress()+path, body, headers...)
		e := exchange{who + " " + method + " " + path, answer}
		for _, r := range rules {
			require.Empty(t, r.wrong(e), "%s answers %s: rule %d, %s", e.request, e.Status, r.number, r.name)
		}
		checked++
		return e
	}
	paths := regexp.MustCompile(`\{\w+\}`)
	for _, route := range api.New(api.Options{}).Routes() {
		path := api.Prefix + paths.ReplaceAllString(route.Path, "7")
		for who := range tokens {
			ask(who, route.Method, path, "")
			ask(who, route.Method, path+"?nothing="+marked, `{"nodes":["`+marked, "Content-Type", "application/json")
		}
		ask("admin", http.MethodTrace, path, "")
		ask("admin", http.MethodOptions, path, "", "Origin", "https://evil.example")
		ask("viewer", route.Method, path, "", "Host", "evil.example")
		ask("viewer", http.MethodPost, path, "{}", "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site")
	}
	page := ask("nobody", http.MethodGet, "/", "")
	require.Equal(t, http.StatusOK, page.StatusCode)
	for _, found := range regexp.MustCompile(`(?:src|href)="(/[^"]+)"`).FindAllStringSubmatch(page.Text, -1) {
		require.Equal(t, http.StatusOK, ask("nobody", http.MethodGet, found[1], "").StatusCode, found[1])
	}
	for _, path := range []string{
		"/console/", "/console/vendor/", "/console/../keys/secret", "//evil.example/..", "/keys/secret",
		"/livez", "/readyz", "/metrics", "/" + marked,
		"/api/v1/" + marked, "/opendsr/v1/discovery", "/.git/config", "/debug/pprof/",
	} {
		ask("nobody", http.MethodGet, path, "")
		ask("admin", http.MethodGet, path, "")
	}
	login, err := json.Marshal(map[string]string{"token": tokens["viewer"]})
	require.NoError(t, err)
	in := ask("nobody", http.MethodPost, guard.SessionPath, string(login), "Content-Type", "application/json")
	require.NotEmpty(t, in.Header.Values("Set-Cookie"))
	ask("nobody", http.MethodPost, guard.SessionPath, `{"token":"`+marked+`"}`, "Content-Type", "application/json")
	ask("nobody", http.MethodGet, guard.SessionPath, "")
	require.Greater(t, checked, 300)
}
