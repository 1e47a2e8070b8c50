package webhooks

import (
	"log/slog"
	"time"

	"lethe"
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
