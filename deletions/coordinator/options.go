package coordinator

import (
	"crypto/ed25519"
	"log/slog"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/backups"
	"lethe/deletions/translog"
	"lethe/ingest"
	"lethe/internal/check"
	"lethe/metrics/events"
)

// Config are the coordinator's settings: those of the operator, which Defaults has, and
// those of the process.
type Config struct {
	// DefaultScope is the scope of a request that names none, as lethe erase submit
	// never does: stubs, shard or partition.
	DefaultScope lethe.Scope `yaml:"default_scope" help:"Scope of a request that names none: stubs, shard or partition."`
	// VerifyTimeout bounds the search for what is left, compaction included, after which
	// the erasure fails and is tried again.
	VerifyTimeout time.Duration `yaml:"verify_timeout" help:"Bound of the search for what is left of an erasure."`
	// BatchWindow is how long a suppressed request waits at most for others that keep
	// coming, so that they are carried out together; when none has come for a twentieth
	// of it, they begin. It does not wait after a batch before it.
	BatchWindow time.Duration `yaml:"batch_window" help:"Longest wait of a suppressed request for others."`
	// RetainTimesteps is how many settled timesteps are kept; older ones are erased. 0 keeps
	// all.
	RetainTimesteps int `yaml:"retain_timesteps" help:"Settled timesteps kept; older ones are erased. 0 keeps all."`

	Secret lethe.Secret `yaml:"-"`
	// Deployment is named on receipts and in the transparency log.
	Deployment lethe.DeploymentID `yaml:"-"`
	SigningKey ed25519.PrivateKey `yaml:"-"`
	// KeyBefore, if not nil, introduces SigningKey in the transparency log.
	KeyBefore ed25519.PrivateKey `yaml:"-"`
	// KernelSet is named on receipts.
	KernelSet string `yaml:"-"`
	// Version is named on receipts.
	Version string `yaml:"-"`
	// OneHop says that rows hold means of their neighbours' features, which
	// scope shard would leave as they are.
	OneHop bool `yaml:"-"`
	// IndependentShards says that every transaction's shard follows from its id alone,
	// which receipts state.
	IndependentShards bool          `yaml:"-"`
	Limits            ingest.Limits `yaml:"-"`
}

// Defaults has the operator's settings.
func Defaults() Config {
	return Config{DefaultScope: lethe.ScopeStubs, VerifyTimeout: 5 * time.Minute, BatchWindow: 2 * time.Second}
}

// Options are the settings and the surroundings.
type Options struct {
	Config
	Ledger *deletions.Ledger
	// Log is where the ledger is written down, and receipts.
	Log *translog.Log
	// Backups, if not nil, returns those that may still hold what a request has erased.
	Backups  func(deletions.Entry) ([]backups.Backup, error)
	Graphs   Graphs
	Notes    Notes
	Receipts Receipts
	Bus      Bus
	Clock    Clock
	Listener events.Listener
	Logger   *slog.Logger
}

// ValidateSettings reports every problem of the operator's settings.
func (c *Config) ValidateSettings() error {
	var p check.Problems
	p.OneOf("default_scope", string(c.DefaultScope), lethe.SupportedScopes()...)
	p.Duration("verify_timeout", c.VerifyTimeout, time.Second, 30*24*time.Hour)
	p.Duration("batch_window", c.BatchWindow, 0, 24*time.Hour)
	p.Whole("retain_timesteps", c.RetainTimesteps, 0, 1_000_000)
	return p.Err()
}

// Validate reports every problem at once. What would otherwise fail only at
// the first receipt is refused here.
func (c *Config) Validate() error {
	p := check.Of(c.ValidateSettings())
	p.That(len(c.SigningKey) == ed25519.PrivateKeySize, "bytes of the signing key", len(c.SigningKey), "64")
	p.That(!c.Deployment.IsZero(), "deployment", c.Deployment, "an id, for receipts")
	p.That(c.KernelSet != "", "kernel set", c.KernelSet, "a name, for receipts")
	p.That(c.Version != "", "version", c.Version, "a name, for receipts")
	return p.Err()
}
