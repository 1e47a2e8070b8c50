package service

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sync/errgroup"

	"lethe"
	"lethe/configs"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/ingest/embedded"
	"lethe/metrics"
	"lethe/metrics/events"
	"lethe/pipeline/graphs"
	"lethe/pipeline/score"
	"lethe/pipeline/train"
)

// Options says what a service runs with.
type Options struct {
	Config configs.Config
	// Version names the program on receipts and in metrics; it is required.
	Version string
	// Random is where new keys come from; nil means crypto/rand.
	Random io.Reader
	// Listener hears of everything beside the metrics.
	Listener events.Listener
	Logger   *slog.Logger
}

// EnsureDefaults returns a copy with the unset fields filled in.
func (o Options) EnsureDefaults() Options {
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Validate refuses what only the first receipt would stumble over. The
// configuration has been validated by the package that loads it.
func (o Options) Validate() error {
	if o.Version == "" {
		return errors.New("version is empty: receipts and metrics must name the program")
	}
	return nil
}

// Service is one process of lethe. Use New, Run once, then Close.
type Service struct {
	o      Options
	config configs.Config
	secret lethe.Secret
	key    ed25519.PrivateKey
	broker *embedded.Broker
	client *bus.Client
	health *metrics.Health
	web    *web
	build  *graphs.Role
	train  *train.Role
	score  *score.Role
}

// The folders of a data directory.
const (
	brokerFolder   = "broker"
	receiptsFolder = "receipts"
)

// RoleDir is the folder of a role within a data directory.
func RoleDir(dataDir, role string) string { return filepath.Join(dataDir, role) }

// ReceiptsDir is the folder of the signed receipts within a data directory.
func ReceiptsDir(dataDir string) string { return filepath.Join(dataDir, receiptsFolder) }

// New prepares the data directory and the keys, starts the embedded broker if
// no other is named, reaches the brokers and creates missing topics. On an
// error everything that was started is stopped.
func New(ctx context.Context, o Options) (_ *Service, err error) {
	o = o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("service: %w", err)
	}
	s := &Service{o: o, config: o.Config}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if err := os.MkdirAll(s.config.DataDir, 0o755); err != nil {
		return nil, fmt.Errorf("data directory cannot be made: %w (choose another with --data-dir)", err)
	}
	if s.secret, err = configs.LoadOrCreateSecret(s.config.SecretPath(), o.Random); err != nil {
		return nil, err
	}
	if s.key, err = configs.LoadOrCreateSigningKey(s.config.SigningKeyPath(), o.Random); err != nil {
		return nil, err
	}
	s.health = metrics.NewHealth(append([]string{"broker"}, s.config.Roles...)...)
	listener, err := s.openWeb()
	if err != nil {
		return nil, err
	}
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	return s, s.openRoles(listener)
}

// connect starts or finds the brokers and makes sure that the topics are there.
func (s *Service) connect(ctx context.Context) error {
	cfg := BusConfig(s.config)
	if s.config.UsesEmbeddedBroker() {
		broker, err := embedded.Start(filepath.Join(s.config.DataDir, brokerFolder), s.config.Embedded, s.o.Logger)
		switch {
		case errors.Is(err, embedded.ErrInUse):
			return fmt.Errorf("%w (another lethe runs on this data directory: stop it, or choose another with --data-dir)", err)
		case errors.Is(err, syscall.EADDRINUSE):
			return fmt.Errorf("%w (is another lethe running? choose another port with --set embedded.port=N)", err)
		case err != nil:
			return err
		}
		s.broker = broker
		own := broker.Config()
		cfg.Brokers, cfg.ErasureRetention = own.Brokers, own.ErasureRetention
	}
	client, err := bus.Open(cfg)
	if err != nil {
		return err
	}
	s.client = client
	if err := client.Ping(ctx); err != nil {
		return fmt.Errorf("%w (start Kafka, or name brokers that are up with --brokers; without them lethe brings its own)", err)
	}
	if err := client.Apply(ctx); err != nil {
		return fmt.Errorf("create the topics: %w", err)
	}
	s.health.Set("broker", true, "")
	return nil
}

// BusConfig translates the configuration of brokers and topics.
func BusConfig(c configs.Config) bus.Config {
	cfg := bus.Config{
		Brokers: c.Kafka.Brokers, TopicPrefix: c.Kafka.TopicPrefix,
		ReplicationFactor: c.Kafka.ReplicationFactor, Partitions: make(map[bus.Topic]int),
	}
	for _, t := range []bus.Topic{bus.Transactions, bus.Labels, bus.Slices, bus.Models, bus.Predictions} {
		cfg.Partitions[t] = c.Kafka.Partitions
	}
	return cfg
}

// openRoles opens the roles that the configuration names.
func (s *Service) openRoles(listener events.Listener) (err error) {
	c := s.config
	set, err := KernelsOf(c)
	if err != nil {
		return err
	}
	if c.HasRole(configs.RoleBuild) {
		o := buildOptions(c)
		o.Secret, o.SigningKey, o.KernelSet, o.Version = s.secret, s.key, set.Name(), s.o.Version
		o.Client, o.Listener, o.Logger = s.client, listener, s.o.Logger
		if s.broker != nil {
			o.Compact = s.broker.Compact
		}
		if s.build, err = graphs.New(o); err != nil {
			return err
		}
	}
	// Before train, which makes a folder for every shard: under another number of
	// shards this one refuses to open, and nothing has been changed.
	if c.HasRole(configs.RoleScore) {
		o := scoreOptions(c)
		o.Kernels, o.Secret = set, s.secret
		o.Client, o.Listener, o.Logger = s.client, listener, s.o.Logger
		if s.score, err = score.New(o); err != nil {
			return err
		}
	}
	if c.HasRole(configs.RoleTrain) {
		if s.train, err = train.New(train.Options{
			Dir: RoleDir(c.DataDir, configs.RoleTrain), Shards: c.Partition.Shards, Workers: c.Trainer.Workers,
			Trainer: TrainerOptions(c), Kernels: set, Secret: s.secret,
			Client: s.client, Listener: listener, Logger: s.o.Logger,
		}); err != nil {
			return err
		}
	}
	return nil
}

// Run runs the roles until the context ends, which is not an error, or one of
// them fails, which ends the others too.
func (s *Service) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	role := func(name string, run func(context.Context) error) {
		g.Go(func() error {
			s.health.Set(name, true, "")
			err := run(ctx)
			if err != nil {
				s.health.Fail(name, "ended with an error; see the log")
			}
			return err
		})
	}
	if s.build != nil {
		role(configs.RoleBuild, s.build.Run)
	}
	if s.train != nil {
		role(configs.RoleTrain, s.train.Run)
	}
	if s.score != nil {
		role(configs.RoleScore, s.score.Run)
	}
	g.Go(func() error { return s.web.serve(ctx) })
	return g.Wait()
}

// Close stops what Run has not stopped: stores, connections, the broker. It
// must not be called while Run is running.
func (s *Service) Close() error {
	var errs []error
	if s.build != nil {
		errs = append(errs, s.build.Close())
	}
	if s.train != nil {
		errs = append(errs, s.train.Close())
	}
	if s.score != nil {
		errs = append(errs, s.score.Close())
	}
	if s.web != nil {
		errs = append(errs, s.web.close())
	}
	if s.client != nil {
		errs = append(errs, s.client.Close())
	}
	if s.broker != nil {
		errs = append(errs, s.broker.Close())
	}
	return errors.Join(errs...)
}

// Client is the service's connection to the brokers.
func (s *Service) Client() *bus.Client { return s.client }

// HTTPAddress is where the web interface listens.
func (s *Service) HTTPAddress() string { return s.web.address() }

// Brokers are the addresses of the brokers in use.
func (s *Service) Brokers() []string {
	if s.broker != nil {
		return []string{s.broker.Addr()}
	}
	return s.config.Kafka.Brokers
}

// reasons lists the codes of dead letters for the metrics.
func reasons() []string {
	var out []string
	for _, r := range ingest.Reasons() {
		out = append(out, string(r))
	}
	return out
}
