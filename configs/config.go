package configs

import (
	"path/filepath"
	"slices"
	"time"
)

// Config is the whole configuration of one process. Take it from Load, or from
// Default and check it with Validate.
//
// The tags give the keys: dotted in messages and overrides (kafka.brokers),
// nested in YAML, upper case with underscores in the environment
// (LETHE_KAFKA_BROKERS).
type Config struct {
	// DataDir is the folder of everything this process keeps on disk.
	DataDir string `koanf:"data_dir" yaml:"data_dir"`
	// Roles are what this process does: build, train, score, in any order.
	Roles []string `koanf:"roles" yaml:"roles"`
	// Seed keys every random draw. Processes that share topics must agree on it.
	Seed uint64 `koanf:"seed" yaml:"seed"`
	// SecretFile holds the deployment's key for pseudonyms. Empty stands for
	// keys/secret under DataDir, see SecretPath.
	SecretFile string `koanf:"secret_file" yaml:"secret_file"`
	// SigningKeyFile holds the key that signs receipts. Empty stands for
	// keys/receipt-ed25519.pem under DataDir, see SigningKeyPath.
	SigningKeyFile string `koanf:"signing_key_file" yaml:"signing_key_file"`

	HTTP      HTTP      `koanf:"http" yaml:"http"`
	Kafka     Kafka     `koanf:"kafka" yaml:"kafka"`
	Embedded  Embedded  `koanf:"embedded" yaml:"embedded"`
	Ingest    Ingest    `koanf:"ingest" yaml:"ingest"`
	Partition Partition `koanf:"partition" yaml:"partition"`
	Repair    Repair    `koanf:"repair" yaml:"repair"`
	Trainer   Trainer   `koanf:"trainer" yaml:"trainer"`
	Scoring   Scoring   `koanf:"scoring" yaml:"scoring"`
	Erasure   Erasure   `koanf:"erasure" yaml:"erasure"`
	Log       Log       `koanf:"log" yaml:"log"`
}

// HTTP is the address of the web interface, the metrics and the health checks.
type HTTP struct {
	// Address is host:port. There is no login, so the default is reachable from
	// this machine only.
	Address string `koanf:"address" yaml:"address"`
}

// Kafka says which brokers and topics to use.
type Kafka struct {
	// Brokers are host:port. None stands for the embedded broker.
	Brokers []string `koanf:"brokers" yaml:"brokers"`
	// TopicPrefix stands before every topic's name.
	TopicPrefix string `koanf:"topic_prefix" yaml:"topic_prefix"`
	// Partitions is the number of partitions of the busy topics when lethe
	// creates them.
	Partitions int `koanf:"partitions" yaml:"partitions"`
	// ReplicationFactor is the number of brokers that keep each record.
	ReplicationFactor int `koanf:"replication_factor" yaml:"replication_factor"`
}

// Embedded is the broker that runs inside the process when Kafka.Brokers names
// none.
type Embedded struct {
	// Port is where it listens on 127.0.0.1; 0 picks a free one.
	Port int `koanf:"port" yaml:"port"`
	// SyncWrites makes every record survive a power failure, not only the end
	// of the process.
	SyncWrites bool `koanf:"sync_writes" yaml:"sync_writes"`
	// CleanInterval is the time between compactions, which bounds how long an
	// erased record stays in the broker's files.
	CleanInterval time.Duration `koanf:"clean_interval" yaml:"clean_interval"`
}

// Ingest bounds the records that are taken.
type Ingest struct {
	// MaxRecordBytes bounds key, value and headers of one record together.
	MaxRecordBytes int `koanf:"max_record_bytes" yaml:"max_record_bytes"`
	// AllowedLatenessTimesteps keeps a timestep open until a record this many
	// timesteps further on has been seen.
	AllowedLatenessTimesteps int `koanf:"allowed_lateness_timesteps" yaml:"allowed_lateness_timesteps"`
	// LabelLatenessTimesteps is the same for labels, after which a timestep
	// settles. LabelsByControl (-1) waits for a control record instead.
	LabelLatenessTimesteps int `koanf:"label_lateness_timesteps" yaml:"label_lateness_timesteps"`
	// FirstTimestep is the number of the stream's first timestep or any before
	// it, from where MaxTimestepJump counts. Records of earlier timesteps are
	// late.
	FirstTimestep int `koanf:"first_timestep" yaml:"first_timestep"`
	// MaxTimestepJump is by how many timesteps a record may be ahead of what its
	// partition has come to. What is further ahead is refused: one wrong number
	// would make late whatever follows.
	MaxTimestepJump int `koanf:"max_timestep_jump" yaml:"max_timestep_jump"`
	// FeatureCount is the number of features of every transaction; 0 lets the
	// first transaction fix it.
	FeatureCount int `koanf:"feature_count" yaml:"feature_count"`
}

// LabelsByControl as Ingest.LabelLatenessTimesteps settles a timestep only when
// a control record says so.
const LabelsByControl = -1

// Partition says how timesteps are cut into shards.
type Partition struct {
	// Method is gpfb-fast, gpfb-sr or random: the methods that keep shards even.
	Method string `koanf:"method" yaml:"method"`
	// Shards is the number of shards. Changing it means building anew.
	Shards int `koanf:"shards" yaml:"shards"`
	// Alpha weighs balance and fairness against the cut; 0 takes the method's
	// own default.
	Alpha float64 `koanf:"alpha" yaml:"alpha"`
	// Sweeps bounds the power iterations; 0 takes the method's own default.
	Sweeps int `koanf:"sweeps" yaml:"sweeps"`
	// Refine lowers the cut by swapping nodes between shards afterwards.
	Refine bool `koanf:"refine" yaml:"refine"`
	// RefineSweeps is the number of sweeps of it; 0 takes a number that falls
	// with the size of the graph.
	RefineSweeps int `koanf:"refine_sweeps" yaml:"refine_sweeps"`
}

// Repair says what stands for the neighbours a node lost to other shards.
type Repair struct {
	// Method is mixup, zero, mirror or none.
	Method string `koanf:"method" yaml:"method"`
	// Tau is the upper bound of the factor that mixup draws.
	Tau float64 `koanf:"tau" yaml:"tau"`
	// MinStubs is the least number of stubs per node.
	MinStubs int `koanf:"min_stubs" yaml:"min_stubs"`
	// OneHop joins the mean of all neighbours' features and the log degree to
	// every transaction's own, in slices and when scoring. It rules out
	// erasures at scope shard. Changing it means building anew.
	OneHop bool `koanf:"one_hop" yaml:"one_hop"`
	// OneHopDirected joins the mean of those who pay a transaction and the mean
	// of those whom it pays apart. It needs OneHop.
	OneHopDirected bool `koanf:"one_hop_directed" yaml:"one_hop_directed"`
}

// Trainer shapes the shard models and their training.
type Trainer struct {
	// Model is elliptic-gin, or trees or logistic, which look at one transaction
	// at a time and want repair.one_hop, schedule window and a long window, or
	// blend, which combines several and wants a long window.
	Model string `koanf:"model" yaml:"model"`
	// Components are the models of a blend.
	Components []string `koanf:"components" yaml:"components"`
	// Hidden is the width of the first layers.
	Hidden int `koanf:"hidden" yaml:"hidden"`
	// LinearSkip adds a linear layer on the raw features to the logits.
	LinearSkip bool `koanf:"linear_skip" yaml:"linear_skip"`
	// LearningRate is Adam's step size.
	LearningRate float64 `koanf:"learning_rate" yaml:"learning_rate"`
	// WeightDecay is the L2 penalty.
	WeightDecay float64 `koanf:"weight_decay" yaml:"weight_decay"`
	// Schedule is continual (go on from the last checkpoint) or window (start
	// afresh at every timestep).
	Schedule string `koanf:"schedule" yaml:"schedule"`
	// WindowTimesteps is how many settled timesteps each training looks at.
	WindowTimesteps int `koanf:"window_timesteps" yaml:"window_timesteps"`
	// Passes is how often it goes through them.
	Passes int `koanf:"passes" yaml:"passes"`
	// Workers is how many shards train at once; 0 takes the number of CPUs. The
	// models do not depend on it.
	Workers int `koanf:"workers" yaml:"workers"`
	// Kernels is the kernel set: auto (fma where the processor has loops for it,
	// else portable), fma or portable. Models of different sets differ in their
	// last bits, so another set trains everything anew.
	Kernels string `koanf:"kernels" yaml:"kernels"`
}

// Scoring says how the shards' answers become predictions.
type Scoring struct {
	// Aggregation is mean or similarity.
	Aggregation string `koanf:"aggregation" yaml:"aggregation"`
	// Temperature sharpens the weights of similarity; 0 takes its default.
	Temperature float64 `koanf:"temperature" yaml:"temperature"`
	// Threshold is the probability from which a transaction is called illicit.
	Threshold float64 `koanf:"threshold" yaml:"threshold"`
	// LabelLagTimesteps is how many timesteps right before a scored one its
	// models were not trained on, as if their labels were not in yet. At 0 they
	// were trained through the timestep before it.
	LabelLagTimesteps int `koanf:"label_lag_timesteps" yaml:"label_lag_timesteps"`
}

// Erasure says how far erasures reach and how long their proof may take.
type Erasure struct {
	// DefaultScope is the scope of a request that names none: stubs or shard.
	DefaultScope string `koanf:"default_scope" yaml:"default_scope"`
	// VerifyTimeout bounds the search for what is left, after which the
	// erasure fails and is tried again.
	VerifyTimeout time.Duration `koanf:"verify_timeout" yaml:"verify_timeout"`
}

// Log shapes what goes to standard error.
type Log struct {
	// Level is debug, info, warn or error.
	Level string `koanf:"level" yaml:"level"`
	// Format is text or json.
	Format string `koanf:"format" yaml:"format"`
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

// HasRole reports whether the process plays the role.
func (c Config) HasRole(role string) bool { return slices.Contains(c.Roles, role) }
