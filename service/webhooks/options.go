package webhooks

import (
	"log/slog"
	"time"

	"lethe"
	"lethe/internal/check"
	"lethe/internal/outbound"
	"lethe/metrics/events"
	"lethe/pipeline/role"
)

// Shown decides the visibility of transactions to people; *view.Reader implements it.
type Shown interface {
	// WhileShown calls do and returns true if a transaction is visible to people, and false
	// otherwise. An erasure of it waits for do.
	WhileShown(id lethe.TransactionID, do func()) bool
}

// Options configures the delivery of alerts.
type Options struct {
	// URL receives the posts. Secret signs them.
	URL    string
	Secret Secret
	// AllowPrivate allows addresses of private networks and of this machine, and plain HTTP.
	AllowPrivate bool
	// Tries is how often an alert is sent before it is given up. The pause between two tries is
	// FirstWait, doubled each time up to LongestWait, minus a random part of up to half.
	Tries                  int
	FirstWait, LongestWait time.Duration
	// Timeout bounds a try.
	Timeout time.Duration
	// StatePath is a file for this package only.
	StatePath string
	Topics    role.Bus
	// Alerts is checked before each try.
	Alerts Shown
	Now    func() time.Time
	// Random returns random numbers in [0, 1).
	Random   func() float64
	Listener events.Listener
	Logger   *slog.Logger
}

// Validate reports all problems at once.
func (o Options) Validate() error {
	var p check.Problems
	if err := outbound.CheckURL(o.URL, o.AllowPrivate); err != nil {
		p.Bad("url", o.URL, "%s", err.Error())
	}
	p.That(len(o.Secret) > 0, "secret", "", "a secret")
	p.AtLeast("tries", o.Tries, 1)
	p.That(o.FirstWait > 0 && o.LongestWait >= o.FirstWait, "longest_wait", o.LongestWait, "at least %v", o.FirstWait)
	p.That(o.Timeout > 0, "timeout", o.Timeout, "above 0")
	p.That(o.StatePath != "", "state_path", o.StatePath, "a file")
	p.That(o.Topics != nil && o.Alerts != nil && o.Now != nil && o.Random != nil && o.Logger != nil,
		"surroundings", "", "topics, alerts, a clock, random numbers and a log")
	return p.Err()
}
