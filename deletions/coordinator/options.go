package coordinator

import (
	"context"
	"crypto/ed25519"
	"log/slog"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/backups"
	"lethe/deletions/scan"
	"lethe/deletions/search"
	"lethe/deletions/translog"
	"lethe/deletions/withdrawal"
	"lethe/ingest"
	"lethe/ingest/authority"
	"lethe/ingest/bus"
	"lethe/internal/check"
	"lethe/internal/sleep"
	"lethe/metrics/events"
	"lethe/pipeline/wire"
)

// Config are the settings of the operator (Defaults) and of the process.
type Config struct {
	// DefaultScope is the scope of requests without one: stubs, shard or partition.
	DefaultScope lethe.Scope `yaml:"default_scope" help:"Scope of a request that names none: stubs, shard or partition."`
	// VerifyTimeout bounds the final search, compaction included; then the erasure fails and is retried. Time spent on
	// brokers does not count.
	VerifyTimeout time.Duration `yaml:"verify_timeout" help:"Bound of the search for what is left of an erasure."`
	// BatchWindow is the longest wait of a suppressed request for others; a twentieth of it without a request ends the
	// wait, and so does an earlier batch.
	BatchWindow time.Duration `yaml:"batch_window" help:"Longest wait of a suppressed request for others."`
	// RetainTimesteps is the number of settled timesteps kept; older ones are erased. 0 keeps all.
	RetainTimesteps int `yaml:"retain_timesteps" help:"Settled timesteps kept; older ones are erased. 0 keeps all."`

	Secret lethe.Secret `yaml:"-"`
	// Deployment, KernelSet and Version are named on receipts.
	Deployment lethe.DeploymentID `yaml:"-"`
	SigningKey ed25519.PrivateKey `yaml:"-"`
	// KeyBefore, if not nil, introduces SigningKey in the transparency log.
	KeyBefore ed25519.PrivateKey `yaml:"-"`
	// Instance is the data directory's identity if there are standbys, whose copies are searched too; else empty.
	Instance string `yaml:"-"`
	// Authority has the signatures that records need.
	Authority authority.Policy `yaml:"-"`
	KernelSet string           `yaml:"-"`
	Version   string           `yaml:"-"`
	// OneHop means that rows have means of neighbours' features, which scope shard would keep.
	OneHop bool `yaml:"-"`
	// IndependentShards means that a transaction's shard follows from its id alone; receipts state it.
	IndependentShards bool          `yaml:"-"`
	Limits            ingest.Limits `yaml:"-"`
}

// Defaults has the operator's settings.
func Defaults() Config {
	return Config{DefaultScope: lethe.ScopeStubs, VerifyTimeout: 5 * time.Minute, BatchWindow: 2 * time.Second}
}

// Options are the settings and the dependencies.
type Options struct {
	Config
	Ledger *deletions.Ledger
	// Log journals the ledger and receipts.
	Log *translog.Log
	// Backups, if not nil, returns those that may hold data erased by a request.
	Backups func(deletions.Entry) ([]backups.Backup, error)
	// Restored describes the latest restore.
	Restored backups.Restored
	Graphs   Graphs
	Notes    Notes
	Receipts Receipts
	Bus      search.Bus
	Clock    search.Clock
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

// Validate reports every problem at once, also those of receipts.
func (c *Config) Validate() error {
	p := check.Of(c.ValidateSettings())
	p.That(len(c.SigningKey) == ed25519.PrivateKeySize, "bytes of the signing key", len(c.SigningKey), "64")
	p.That(!c.Deployment.IsZero(), "deployment", c.Deployment, "an id, for receipts")
	p.That(c.KernelSet != "", "kernel set", c.KernelSet, "a name, for receipts")
	p.That(c.Version != "", "version", c.Version, "a name, for receipts")
	return p.Err()
}

// Graphs holds the graphs. Calls are sequential.
type Graphs interface {
	// Suppress durably drops records that name a target from now on.
	Suppress(ctx context.Context, targets []lethe.Target) error
	// Lift durably accepts records of these hashes again, and later records of subjects that others still suppress.
	Lift(ctx context.Context, hashes []lethe.Digest, still ...lethe.SubjectUntil) error
	// Carried returns the distinct carriers of the subjects among targets, and how many of these transactions have
	// other subjects too. Rewrite erases them; Suppress does not suppress them.
	Carried(targets []lethe.Target) (carried []lethe.Target, several int, err error)
	// Adopt treats the transactions and payments of some hashes as carriers of the subjects among targets: another process
	// has found them, and their records may have been dropped here.
	Adopt(ctx context.Context, targets []lethe.Target, hashes []lethe.Digest) error
	// SubjectsOf returns keyed hashes (lethe.Secret.HeldSubject) of the subjects carried by the records that a target's
	// erasure removes.
	SubjectsOf(t lethe.Target) ([]lethe.Digest, error)
	// Newest is the newest known timestep, or NoTimestep.
	Newest() lethe.Timestep
	// Suppressed counts the hashes whose transactions are suppressed.
	Suppressed(hashes []lethe.Digest) int
	// Plan returns, per request, the changes that Rewrite of all targets will still make. Requests may share targets;
	// none names one twice.
	Plan(ctx context.Context, requests [][]lethe.Target, scope lethe.Scope) ([]Plan, error)
	// PlanRepartition returns the slices that change if settled timesteps are partitioned again, without unchanged
	// timesteps.
	PlanRepartition(ctx context.Context, timesteps []lethe.Timestep) ([]Replaced, error)
	// Alike reports which contents (Plan.Rows) a remaining transaction has.
	Alike(contents []scan.MAC) ([]bool, error)
	// Rewrite deletes the targets from every graph, partitions timesteps again if asked, and publishes the replacements.
	// The requests are digests of their content.
	Rewrite(ctx context.Context, requests []lethe.Digest, targets []lethe.Target, replaced []Replaced) error
	// BeginScrub begins to remove data that Rewrite has deleted from the files. One runs at a time, by itself. Call
	// Advance when it has ended.
	BeginScrub(ctx context.Context) (ended func() bool, err error)
	// Search searches the places that Rewrite and Scrub rewrote.
	Search(ctx context.Context, scanner *scan.Scanner, replaced []Replaced) (scan.Report, error)
	// Outdated reports which of the published slices differ from the graph: scope shard keeps stubs.
	Outdated(slices []deletions.SliceRef) ([]bool, error)
	// Published returns the latest published digests, without timesteps that are gone.
	Published(timesteps []lethe.Timestep) (map[lethe.Timestep]deletions.Published, error)
	// Steps returns the revisions without the targets, or that a timestep is gone. Open timesteps are left out.
	Steps(replaced []Replaced) []wire.CommandStep
}

// Replaced is a rewritten timestep with the shards whose slices change, ascending.
type Replaced struct {
	Timestep lethe.Timestep
	Shards   []lethe.ShardID
	// Revision is the slices' new revision, 0 before. A later one may be of other slices.
	Revision      lethe.Revision
	Repartitioned bool
	// Renewed means that an ended request replaced some slices, at an unknown revision.
	Renewed bool
}

// Plan are the changes of an erasure, and the forms to search for afterwards.
type Plan struct {
	// Held reports for each target whether a graph, an open timestep, or a waiting payment or label names it.
	Held []bool
	// Kept counts transactions, also for their features, and payments held, of the targets and of carriers of subjects.
	Kept int
	// Fingerprints are those only the graphs know, such as features.
	Fingerprints []scan.Fingerprint
	// Rows group the fingerprints of features.
	Rows []deletions.RowForms
	// NotSearched are forms that would not identify the targets.
	NotSearched []scan.Kind
	// Steps are the closed timesteps concerned, ascending.
	Steps []StepPlan
	Gone  deletions.Gone
	// Records are the distinct source records and predictions with known keys.
	Records []withdrawal.NamedRecord
}

// StepPlan are the changes in a closed timestep.
type StepPlan struct {
	Replaced
	// Labels and Payments are erased with the targets; Stubs counts erased cut edges, with a stub at both ends.
	Labels, Payments, Stubs int
	// Kept are stubs that scope shard leaves in other shards.
	Kept []deletions.KeptStubs
}

// Receipts keeps signed receipts.
type Receipts interface {
	Has(requestID string) (bool, error)
	// Keep stores receipts by request, each atomically; on an error some may be stored.
	Keep(signed map[string][]byte) error
}

// Notes persists the coordinator's progress with the graphs' offsets.
type Notes interface {
	// Commit stores the position in a partition of erasures.v1.
	Commit(source bus.TopicPartition, next int64) error
	// Taken is the next offset of transactions.v1 by partition.
	Taken() map[int]int64
	// Concluded reports whether a request's receipt and last state were published; Conclude records it.
	Concluded(requestID string) (bool, error)
	Conclude(requestIDs ...string) error
}

// WallClock is the clock of the machine.
type WallClock struct {
	// Time, if not nil, replaces the machine's time.
	Time func() time.Time
}

// Now implements search.Clock.
func (w WallClock) Now() time.Time {
	if w.Time != nil {
		return w.Time()
	}
	return time.Now()
}

// Sleep implements search.Clock.
func (WallClock) Sleep(ctx context.Context, d time.Duration) error {
	return sleep.For(ctx, d)
}
