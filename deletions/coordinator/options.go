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
	"lethe/deletions/translog"
	"lethe/ingest"
	"lethe/ingest/authority"
	"lethe/ingest/bus"
	"lethe/internal/check"
	"lethe/internal/sleep"
	"lethe/metrics/events"
	"lethe/pipeline/wire"
)

// Config are the coordinator's settings: those of the operator, which Defaults has, and
// those of the process.
type Config struct {
	// DefaultScope is the scope of a request that names none, as lethe erase submit
	// never does: stubs, shard or partition.
	DefaultScope lethe.Scope `yaml:"default_scope" help:"Scope of a request that names none: stubs, shard or partition."`
	// VerifyTimeout bounds the search for what is left, compaction included, after which
	// the erasure fails and is tried again. The time in which brokers are asked, and waited for while
	// they are away, does not count.
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
	// Instance is the identity of the data directory, where others stand by for this role: they
	// hold copies, and are waited for. It is empty where nobody does.
	Instance string `yaml:"-"`
	// Authority says which records must be signed, and by whom.
	Authority authority.Policy `yaml:"-"`
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
	Backups func(deletions.Entry) ([]backups.Backup, error)
	// Restored is the note of the backup that was put back last.
	Restored backups.Restored
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

// Graphs is what the coordinator asks of whoever holds the graphs. One method is
// called at a time.
type Graphs interface {
	// Suppress keeps records that name a target from being taken from now on. It
	// is durable when it returns.
	Suppress(targets []lethe.Target) error
	// Lift takes records of these keyed hashes again, and of subjects that others still suppress
	// what is later. It is durable when it returns.
	Lift(hashes []lethe.Digest, still ...lethe.SubjectUntil) error
	// Carried returns what carries the subjects among some targets, each once, and how many
	// of the transactions among that carry other subjects too. Suppress suppresses none of
	// it by itself; Rewrite takes it out.
	Carried(targets []lethe.Target) (carried []lethe.Target, several int, err error)
	// Adopt has what is here of some keyed hashes count as carried by the subjects among some targets,
	// unless it is one of these or known to be carried: another process has found it, and what says so may
	// have been dropped here.
	Adopt(ctx context.Context, targets []lethe.Target, hashes []lethe.Digest) error
	// SubjectsOf returns keyed hashes (lethe.Secret.HeldSubject) of the subjects that are carried
	// by what an erasure of a target takes away. A subject is itself.
	SubjectsOf(t lethe.Target) ([]lethe.Digest, error)
	// Newest is the newest timestep that is known, or NoTimestep.
	Newest() lethe.Timestep
	// Suppressed counts those of the keyed hashes whose transactions are kept from being
	// taken.
	Suppressed(hashes []lethe.Digest) int
	// Taken tells how far the source topics were taken: the next offset by <topic>/<partition>.
	Taken() map[string]int64
	// Plan tells what Rewrite will change for all targets of some requests together,
	// beside what it has changed already: of each request, what its own targets change.
	// Two requests may name one target; no request names one twice.
	Plan(ctx context.Context, requests [][]lethe.Target, scope lethe.Scope) ([]Plan, error)
	// PlanAfresh tells which slices change if settled timesteps are partitioned afresh as
	// they are. Those of which none does, or that are not settled, are left out.
	PlanAfresh(ctx context.Context, timesteps []lethe.Timestep) ([]Replaced, error)
	// Alike tells which of some contents (Plan.Rows) a transaction has that is not erased.
	Alike(contents []scan.MAC) ([]bool, error)
	// Rewrite takes the targets out of every graph, partitions afresh what is to be, and
	// publishes the graphs and slices that were replaced, or are to be published anew.
	Rewrite(ctx context.Context, targets []lethe.Target, replaced []Replaced) error
	// BeginScrub begins to remove from the files of the graphs what Rewrite has only deleted there by now.
	// Until it has ended nothing reads that, but a search of the files finds it. One is under way at a time.
	BeginScrub(ctx context.Context) (Scrub, error)
	// Search looks for something in the places that Rewrite and a Scrub have written anew.
	Search(ctx context.Context, scanner *scan.Scanner, replaced []Replaced) (scan.Report, error)
	// Outdated reports of each slice whether the one that was published last, and is trained
	// on, is not what the graph gives now: at scope shard it keeps stubs of what is gone.
	Outdated(slices []deletions.SliceRef) ([]bool, error)
	// Published tells what was published last of timesteps. Those that are gone have no entry.
	Published(timesteps []lethe.Timestep) (map[lethe.Timestep]deletions.Published, error)
	// Steps gives the revisions that no longer hold the targets, or say that a
	// timestep is gone. Timesteps that are open are left out.
	Steps(replaced []Replaced) []wire.CommandStep
}

// Scrub goes on by itself, and Advance is to be called once it has ended.
type Scrub interface {
	// Ended reports whether it has, or why it failed.
	Ended() (bool, error)
}

// Replaced is a timestep that an erasure rewrites, and the shards whose slice of
// it changes, ascending.
type Replaced struct {
	Timestep lethe.Timestep
	Shards   []lethe.ShardID
	// Revision is that at which the slices were replaced, or 0 before they were. A
	// later one of the timestep may be that of other slices alone.
	Revision lethe.Revision
	// Afresh says that the timestep is partitioned afresh without the targets.
	Afresh bool
	// Anew says that a request that has ended has replaced some of the slices, under which revision is not known.
	Anew bool
}

// Plan is what the erasure of a request's targets will change and what to search for
// afterwards.
type Plan struct {
	// Held says of each target, in order, whether anything that the graphs keep names
	// it: a graph, an open timestep, or a payment or label that waits for another.
	Held []bool
	// Kept counts what the graphs keep itself of the targets and of what carries subjects:
	// transactions, also for their features, and payments.
	Kept int
	// Fingerprints are the forms that only the graphs can tell, such as features.
	Fingerprints []scan.Fingerprint
	// Rows tell which of them are forms of features.
	Rows []deletions.RowForms
	// NotSearched are the forms that say nothing about the targets.
	NotSearched []scan.Kind
	// Steps are the closed timesteps concerned, ascending.
	Steps []StepPlan
	// Gone is what no slice may hold afterwards.
	Gone deletions.Gone
	// Records are those of the topics that the graphs were made of, and predictions for
	// them, as far as their keys are known, each once.
	Records []NamedRecord
}

// NamedRecord is a record by its topic and key. A producer may have put it into any
// partition.
type NamedRecord struct {
	Topic bus.Topic
	Key   string
}

// StepPlan is what an erasure will change in one closed timestep.
type StepPlan struct {
	Replaced
	// Labels and Payments go with the targets. Stubs counts the cut edges that
	// go, each of which has a stub at both ends.
	Labels, Payments, Stubs int
	// Kept are the stubs for the targets that slices of other shards keep, at scope shard.
	Kept []deletions.KeptStubs
}

// Receipts keeps signed receipts.
type Receipts interface {
	Has(requestID string) (bool, error)
	// Keep stores receipts by request, each whole or not at all, in place of an earlier one.
	// Some may be stored when it fails.
	Keep(signed map[string][]byte) error
}

// Notes keeps, with the graphs' offsets, how far the coordinator has come.
type Notes interface {
	// Commit says that a partition of erasures.v1 is dealt with up to an offset.
	Commit(source bus.TopicPartition, next int64) error
	// Taken tells how far the graphs have taken transactions.v1: the next offset by partition.
	Taken() map[int]int64
	// Concluded reports whether a request's receipt and last state were published;
	// Conclude notes it of several, in one write.
	Concluded(requestID string) (bool, error)
	Conclude(requestIDs ...string) error
}

// Bus is how the coordinator writes topics. A step reads but what came since a search: they are as long as the
// history.
type Bus interface {
	Write(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error
	RollMarkers(ctx context.Context, topics ...bus.Topic) error
	// Partitions returns how many partitions a topic has.
	Partitions(ctx context.Context, t bus.Topic) (int, error)
	// ReadNew reads what stands behind the positions, by partition, and moves them on. What nobody can read is
	// bus.ErrCorrupt.
	ReadNew(ctx context.Context, t bus.Topic, positions map[int]int64, fn func(ingest.Record) error) error
}

// Topics is how searches read topics; *bus.Client is one.
type Topics interface {
	Bus
	// ReadAll reads a topic from its start to where it ends now.
	ReadAll(ctx context.Context, t bus.Topic, fn func(ingest.Record) error) error
	// ReadEvery is ReadAll of every record that the log holds, whatever became of its transaction. around is told of
	// what nobody can read.
	ReadEvery(ctx context.Context, t bus.Topic, fn func(ingest.Record) error, around func(*bus.Gap)) error
	// ReadCopies is ReadEvery of what each broker that keeps the topic has of it, and returns these, or none
	// where one alone does, which fn is told as bus.OneCopy.
	ReadCopies(
		ctx context.Context, t bus.Topic, fn func(broker int32, rec ingest.Record) error,
		around func(broker int32, gap *bus.Gap),
	) ([]int32, error)
	// Holds reports whether any broker's log of a partition still has the record at an offset.
	Holds(ctx context.Context, tp bus.TopicPartition, offset int64) (bool, error)
}

// Clock tells the time and lets it pass.
type Clock interface {
	Now() time.Time
	// Sleep waits, or returns the context's error when that ends first.
	Sleep(ctx context.Context, d time.Duration) error
}

// WallClock is the clock of the machine.
type WallClock struct {
	// Time, if not nil, is told instead of the machine's.
	Time func() time.Time
}

// Now implements Clock.
func (w WallClock) Now() time.Time {
	if w.Time != nil {
		return w.Time()
	}
	return time.Now()
}

// Sleep implements Clock.
func (WallClock) Sleep(ctx context.Context, d time.Duration) error {
	return sleep.For(ctx, d)
}
