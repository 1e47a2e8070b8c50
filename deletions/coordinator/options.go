package coordinator

import (
	"crypto/ed25519"
	"log/slog"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/internal/check"
	"lethe/metrics/events"
)

// Config are the coordinator's settings.
type Config struct {
	Secret     lethe.Secret
	SigningKey ed25519.PrivateKey
	// KernelSet and Version are named on receipts.
	KernelSet, Version string
	// VerifyTimeout bounds how long compaction is waited for before a request
	// counts as failed and is tried again.
	VerifyTimeout time.Duration
	// BatchWindow is how long a request that is suppressed waits at most for others that
	// keep coming, so that they are carried out together.
	BatchWindow time.Duration
	// OneHop says that rows hold means of their neighbours' features, which
	// scope shard would leave as they are.
	OneHop bool
	// DefaultScope is the scope of requests that name none.
	DefaultScope lethe.Scope
	Limits       ingest.Limits
}

// Options are the settings and the surroundings.
type Options struct {
	Config
	Ledger   *deletions.Ledger
	Graphs   Graphs
	Notes    Notes
	Receipts Receipts
	Bus      Bus
	Clock    Clock
	Listener events.Listener
	Logger   *slog.Logger
}

// Validate reports every problem at once. What would otherwise fail only at
// the first receipt is refused here.
func (c *Config) Validate() error {
	var p check.Problems
	p.That(c.VerifyTimeout > 0, "verify_timeout", c.VerifyTimeout, "a positive duration")
	p.That(c.BatchWindow >= 0, "batch_window", c.BatchWindow, "at least 0")
	p.That(len(c.SigningKey) == ed25519.PrivateKeySize, "bytes of the signing key", len(c.SigningKey), "64")
	p.OneOf("default_scope", string(c.DefaultScope), lethe.SupportedScopes()...)
	p.That(c.KernelSet != "", "kernel set", c.KernelSet, "a name, for receipts")
	p.That(c.Version != "", "version", c.Version, "a name, for receipts")
	return p.Err()
}
