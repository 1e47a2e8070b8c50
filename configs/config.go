package configs

import (
	"path/filepath"
	"time"

	"lethe/deletions/coordinator"
	"lethe/ingest"
	"lethe/ingest/authority"
	"lethe/ingest/bus"
	"lethe/ingest/embedded"
	"lethe/internal/kms"
	"lethe/partition"
	"lethe/partition/repair"
	"lethe/scoring"
	"lethe/snapshot"
	"lethe/trainer"
)

// Config is the whole configuration of one process. Use Load, or Default with Validate.
//
// The yaml tags define the keys: dotted in messages and overrides (kafka.brokers), nested in YAML,
// upper case with underscores in the environment (LETHE_KAFKA_BROKERS). The help tags describe
// them.
type Config struct {
	// DataDir is the directory of everything this process stores on disk.
	DataDir string `yaml:"data_dir" help:"Folder of everything this process keeps on disk."`
	// Roles are the roles of this process, in any order; see Plays.
	Roles []string `yaml:"roles" help:"Roles it plays: graphs, erasure, train, score, view; build: the first two."`
	// Seed keys every random draw. Processes that share topics share it, too.
	Seed uint64 `yaml:"seed" help:"Keys every random draw; processes that share topics share it."`
	// SecretFile holds the deployment's key for pseudonyms. If empty, it is keys/secret under
	// DataDir, see SecretPath.
	SecretFile string `yaml:"secret_file" help:"File of the key for pseudonyms; empty: keys/secret under data_dir."`
	// SigningKeyFile holds the key that signs receipts. If empty, it is keys/receipt-ed25519.pem
	// under DataDir, see SigningKeyPath.
	SigningKeyFile string `yaml:"signing_key_file" help:"Key that signs receipts; empty: keys/receipt-ed25519.pem."`

	HTTP HTTP `yaml:"http"`
	// Webhooks configures where alerts are posted.
	Webhooks Webhooks `yaml:"webhooks"`
	// OpenDSR configures the interface for privacy tools.
	OpenDSR   OpenDSR         `yaml:"opendsr"`
	Kafka     bus.Config      `yaml:"kafka"`
	Embedded  embedded.Config `yaml:"embedded"`
	Ingest    Ingest          `yaml:"ingest"`
	Partition Partition       `yaml:"partition"`
	Repair    Repair          `yaml:"repair"`
	Trainer   Trainer         `yaml:"trainer"`
	Scoring   scoring.Config  `yaml:"scoring"`
	Erasure   Erasure         `yaml:"erasure"`
	// Signatures configures which records need signatures, and by whose keys.
	Signatures authority.Config `yaml:"signatures"`
	// KMS configures the key management system that unseals the secret and the signing key.
	KMS kms.Config `yaml:"kms"`
	// Traces configures the export of spans.
	Traces Traces `yaml:"traces"`
	// Waiting is how long a condition must last before it is reported.
	Waiting Waiting `yaml:"waiting"`
	Log     Log     `yaml:"log"`
}

// Ingest bounds the accepted records, and configures when timesteps end.
type Ingest struct {
	Records         ingest.Limits `yaml:",inline"`
	snapshot.Config `yaml:",inline"`
}

// Limits returns the limits of records with the number of features, which may be ingest.AnyFeatureCount.
func (i Ingest) Limits() ingest.Limits {
	i.Records.FeatureCount = i.FeatureCount
	return i.Records
}

// Partition configures how timesteps are divided into shards. A number that is 0 means the default
// of the method; PartitionConfig replaces it by that default.
type Partition struct {
	partition.Config `yaml:",inline"`
	// Alpha weighs balance and fairness against the cut. The default depends on the graph, see
	// partition.Config.
	Alpha float64 `yaml:"alpha" help:"Weight of balance and fairness against the cut; 0 takes the method's default."`
	// Sweeps bounds the sweeps of methods that iterate.
	Sweeps int `yaml:"sweeps" help:"Bound of the power iterations; 0 takes the method's default."`
	// RefineSweeps is the number of sweeps of the refinement, on graphs of any size.
	RefineSweeps int `yaml:"refine_sweeps" help:"Sweeps of refine; 0: a number that falls with the size of the graph."`
}

// Repair configures the replacement of the neighbours that a node lost to other shards.
type Repair struct {
	repair.Config `yaml:",inline"`
	// OneHop joins the mean of all neighbours' features and the log degree to every transaction's
	// own features, in slices and when scoring. It is on by default and rules out erasures with
	// scope shard. Changing it requires a new data directory.
	OneHop bool `yaml:"one_hop" help:"Join the mean of all neighbours' features and the log degree to every row."`
	// OneHopDirected keeps the means of payers and payees separate. It needs OneHop.
	OneHopDirected bool `yaml:"one_hop_directed" help:"Keep the means of payers and of payees apart; needs one_hop."`
}

// Stack is the name of the ensembles whose models are trainer.components.
const Stack = "stack"

// Trainer configures the models and their training. By default they are a Stack: several models,
// listed in Components, each with its number of groups of shards; the other settings then apply to
// its networks. Otherwise every shard has one model: one of models.Served; trees or logistic, which
// process one transaction at a time and benefit from repair.one_hop; or blend, which combines
// several. Components, Schedule and WindowTimesteps have defaults that fit the model, see
// WithModel.
type Trainer struct {
	trainer.Config `yaml:",inline"`
	// Workers is the number of shards that train concurrently; 0 means the number of CPUs. The
	// models do not depend on it.
	Workers int `yaml:"workers" help:"Shards that train at once; 0: one per CPU. The models do not depend on it."`
	// Kernels is the kernel set: auto (fma if the processor supports it, else portable), fma or
	// portable. Models of different sets differ in their last bits, so changing the set retrains
	// everything.
	Kernels string `yaml:"kernels" help:"Kernel set: auto, fma or portable."`
}

// Erasure configures the scope of erasures and the time limit for their proof.
type Erasure struct {
	coordinator.Config `yaml:",inline"`
	// SearchCPU is the share of one core that all searches of the process may use together.
	SearchCPU float64 `yaml:"search_cpu" help:"Share of one core that the searches for what was erased may take."`
}

// Traces configures the export of spans, and which transactions are traced.
type Traces struct {
	// Endpoint is the address of an OpenTelemetry collector for OTLP over HTTP; empty for none.
	Endpoint string `yaml:"endpoint" help:"OpenTelemetry collector (OTLP over HTTP), http://HOST:4318; empty: none."`
	// Transactions is the share of transactions that are traced individually.
	Transactions float64 `yaml:"transactions" help:"Share of transactions that have a trace of their own."`
}

// Waiting configures how long a condition lasts before status, doctor, Health, a metric and the log
// report it.
type Waiting struct {
	// After applies to conditions that need an action.
	After time.Duration `yaml:"after" help:"How long something stands still before it is shown as waited for."`
	// Quiet applies to streams that may simply have nothing to send.
	Quiet time.Duration `yaml:"quiet" help:"How long an open timestep, or its labels, may be without a record."`
}

// Log configures the messages on standard error.
type Log struct {
	// Level is debug, info, warn or error.
	Level string `yaml:"level" help:"debug, info, warn or error."`
	// Format is text or json.
	Format string `yaml:"format" help:"text or json."`
}

// SecretPath is the path of the deployment's secret.
func (c Config) SecretPath() string {
	if c.SecretFile != "" {
		return c.SecretFile
	}
	return filepath.Join(c.DataDir, "keys", "secret")
}

// SigningKeyPath is the path of the key that signs receipts.
func (c Config) SigningKeyPath() string {
	if c.SigningKeyFile != "" {
		return c.SigningKeyFile
	}
	return filepath.Join(c.DataDir, "keys", "receipt-ed25519.pem")
}

// UsesEmbeddedBroker reports whether no external broker is configured, so that the process runs its
// own.
func (c Config) UsesEmbeddedBroker() bool { return len(c.Kafka.Brokers) == 0 }
