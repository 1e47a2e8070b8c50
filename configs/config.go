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

// Config is the whole configuration of one process. Take it from Load, or from
// Default and check it with Validate.
//
// The tags yaml give the keys: dotted in messages and overrides (kafka.brokers),
// nested in YAML, upper case with underscores in the environment
// (LETHE_KAFKA_BROKERS). The tags help describe them.
type Config struct {
	// DataDir is the folder of everything this process keeps on disk.
	DataDir string `yaml:"data_dir" help:"Folder of everything this process keeps on disk."`
	// Roles are what this process does, in any order; see Plays.
	Roles []string `yaml:"roles" help:"Roles it plays: graphs, erasure, train, score, view; build: the first two."`
	// Seed keys every random draw. Processes that share topics share it, too.
	Seed uint64 `yaml:"seed" help:"Keys every random draw; processes that share topics share it."`
	// SecretFile holds the deployment's key for pseudonyms. Empty stands for
	// keys/secret under DataDir, see SecretPath.
	SecretFile string `yaml:"secret_file" help:"File of the key for pseudonyms; empty: keys/secret under data_dir."`
	// SigningKeyFile holds the key that signs receipts. Empty stands for
	// keys/receipt-ed25519.pem under DataDir, see SigningKeyPath.
	SigningKeyFile string `yaml:"signing_key_file" help:"Key that signs receipts; empty: keys/receipt-ed25519.pem."`

	HTTP HTTP `yaml:"http"`
	// Webhooks says where alerts are posted.
	Webhooks Webhooks `yaml:"webhooks"`
	// OpenDSR says whether privacy tools may ask for erasures by that interface.
	OpenDSR   OpenDSR         `yaml:"opendsr"`
	Kafka     bus.Config      `yaml:"kafka"`
	Embedded  embedded.Config `yaml:"embedded"`
	Ingest    Ingest          `yaml:"ingest"`
	Partition Partition       `yaml:"partition"`
	Repair    Repair          `yaml:"repair"`
	Trainer   Trainer         `yaml:"trainer"`
	Scoring   scoring.Config  `yaml:"scoring"`
	Erasure   Erasure         `yaml:"erasure"`
	// Signatures says which records need signatures, and by whose keys.
	Signatures authority.Config `yaml:"signatures"`
	// KMS says who unseals the secret and the key that signs receipts.
	KMS kms.Config `yaml:"kms"`
	// Traces says where spans are sent.
	Traces Traces `yaml:"traces"`
	// Waiting is how long a condition lasts before it is shown as waited for.
	Waiting Waiting `yaml:"waiting"`
	Log     Log     `yaml:"log"`
}

// Ingest bounds the records that are taken, and says when timesteps end.
type Ingest struct {
	Records         ingest.Limits `yaml:",inline"`
	snapshot.Config `yaml:",inline"`
}

// Partition says how timesteps are cut into shards. Here a number that is 0 stands
// for the default of the method; PartitionConfig has the defaults in its place.
type Partition struct {
	partition.Config `yaml:",inline"`
	// Alpha weighs balance and fairness against the cut. By default it suits the
	// graph, see partition.Config.
	Alpha float64 `yaml:"alpha" help:"Weight of balance and fairness against the cut; 0 takes the method's default."`
	// Sweeps bounds the sweeps of methods that iterate.
	Sweeps int `yaml:"sweeps" help:"Bound of the power iterations; 0 takes the method's default."`
	// RefineSweeps is the number of sweeps of the refinement, on graphs of any size.
	RefineSweeps int `yaml:"refine_sweeps" help:"Sweeps of refine; 0: a number that falls with the size of the graph."`
}

// Repair says what stands for the neighbours a node lost to other shards.
type Repair struct {
	repair.Config `yaml:",inline"`
	// OneHop joins the mean of all neighbours' features and the log degree to
	// every transaction's own, in slices and when scoring. It is on by default and
	// rules out erasures at scope shard. Changing it means building anew.
	OneHop bool `yaml:"one_hop" help:"Join the mean of all neighbours' features and the log degree to every row."`
	// OneHopDirected joins the mean of those who pay a transaction and the mean
	// of those whom it pays apart. It needs OneHop.
	OneHopDirected bool `yaml:"one_hop_directed" help:"Keep the means of payers and of payees apart; needs one_hop."`
}

// Stack is the name of the ensembles whose models are trainer.components.
const Stack = "stack"

// Trainer shapes the models and their training. By default they are a Stack: several
// models, of Components, each with its number of groups of shards; what else is said here
// is of its networks. Otherwise every shard has one model: one of models.Served; trees or
// logistic, which look at one transaction at a time and want repair.one_hop; or blend, which
// combines several. Components, Schedule and WindowTimesteps have defaults that fit the
// model, see WithModel.
type Trainer struct {
	trainer.Config `yaml:",inline"`
	// Workers is how many shards train at once; 0 takes the number of CPUs. The
	// models do not depend on it.
	Workers int `yaml:"workers" help:"Shards that train at once; 0: one per CPU. The models do not depend on it."`
	// Kernels is the kernel set: auto (fma where the processor has loops for it,
	// else portable), fma or portable. Models of different sets differ in their
	// last bits, so another set trains everything anew.
	Kernels string `yaml:"kernels" help:"Kernel set: auto, fma or portable."`
}

// Erasure says how far erasures reach and how long their proof may take.
type Erasure struct {
	coordinator.Config `yaml:",inline"`
	// SearchCPU is how much of one core all searches of the process take together.
	SearchCPU float64 `yaml:"search_cpu" help:"Share of one core that the searches for what was erased may take."`
}

// Traces says where spans are sent, and of which transactions.
type Traces struct {
	// Endpoint is an OpenTelemetry collector's, for OTLP over HTTP; empty for none.
	Endpoint string `yaml:"endpoint" help:"OpenTelemetry collector (OTLP over HTTP), http://HOST:4318; empty: none."`
	// Transactions is the share of transactions that are followed one by one.
	Transactions float64 `yaml:"transactions" help:"Share of transactions that have a trace of their own."`
}

// Waiting is how long a condition lasts before status, doctor, Health, a metric and the log show it.
type Waiting struct {
	// After is for conditions that somebody has to end.
	After time.Duration `yaml:"after" help:"How long something stands still before it is shown as waited for."`
	// Quiet is for streams that may be well and have nothing to send.
	Quiet time.Duration `yaml:"quiet" help:"How long an open timestep, or its labels, may be without a record."`
}

// Log shapes what goes to standard error.
type Log struct {
	// Level is debug, info, warn or error.
	Level string `yaml:"level" help:"debug, info, warn or error."`
	// Format is text or json.
	Format string `yaml:"format" help:"text or json."`
}

// SecretPath is where the deployment's secret is.
func (c Config) SecretPath() string {
	if c.SecretFile != "" {
		return c.SecretFile
	}
	return filepath.Join(c.DataDir, "keys", "secret")
}

// SigningKeyPath is where the key that signs receipts is.
func (c Config) SigningKeyPath() string {
	if c.SigningKeyFile != "" {
		return c.SigningKeyFile
	}
	return filepath.Join(c.DataDir, "keys", "receipt-ed25519.pem")
}

// UsesEmbeddedBroker reports whether no broker is named, so that the process
// brings its own.
func (c Config) UsesEmbeddedBroker() bool { return len(c.Kafka.Brokers) == 0 }
