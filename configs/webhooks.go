package configs

import (
	"time"

	"lethe/internal/check"
)

// Webhooks configures where alerts are posted, and the retries.
type Webhooks struct {
	// URL receives the alerts; empty for none.
	URL string `yaml:"url" help:"Address that alerts are posted to (Standard Webhooks); empty: none."`
	// SecretFile holds the secret that signs them.
	SecretFile string `yaml:"secret_file" help:"File of the secret that signs them: whsec_ and 24 to 64 bytes in base64."`
	// AllowPrivate allows receivers in private networks and on this machine, and plain HTTP.
	AllowPrivate bool `yaml:"allow_private" help:"Post to private networks and this machine too, and without TLS."`
	// Tries is how often an alert is sent before it is given up until the next start.
	Tries int `yaml:"tries" help:"Tries before an alert is left until the process starts again."`
	// FirstWait is the wait after the first try; it doubles up to LongestWait.
	FirstWait   time.Duration `yaml:"first_wait" help:"Wait after the first try, doubled after each."`
	LongestWait time.Duration `yaml:"longest_wait" help:"The longest wait between two tries."`
	Timeout     time.Duration `yaml:"timeout" help:"How long a receiver may take to answer."`
}

func defaultWebhooks() Webhooks {
	return Webhooks{
		Tries: 12, FirstWait: time.Second, LongestWait: 5 * time.Minute, Timeout: 10 * time.Second,
	}
}

// check validates the settings; view reports whether the process knows about erasures in progress.
func (w Webhooks) check(p *check.Problems, view bool) {
	const mostTries = 1000
	p.Whole("webhooks.tries", w.Tries, 1, mostTries)
	p.Duration("webhooks.first_wait", w.FirstWait, time.Millisecond, time.Hour)
	p.Duration("webhooks.longest_wait", w.LongestWait, w.FirstWait, 24*time.Hour)
	p.Duration("webhooks.timeout", w.Timeout, time.Millisecond, time.Minute)
	if w.URL == "" {
		return
	}
	schemes := []string{"https"}
	if w.AllowPrivate {
		schemes = append(schemes, "http")
	}
	_, secure := check.WebAddress(w.URL, schemes...)
	p.That(secure, "webhooks.url", w.URL, "https://host/path, or http:// with webhooks.allow_private")
	p.That(w.SecretFile != "", "webhooks.secret_file", w.SecretFile, "a file while webhooks.url is set")
	p.That(view, "webhooks.url", w.URL, "nothing without the role view, which knows what is being erased")
}
