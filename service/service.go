package service

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/configs"
	"lethe/deletions/coordinator"
	"lethe/deletions/forecast"
	"lethe/deletions/scan"
	"lethe/ingest/authority"
	"lethe/ingest/bus"
	"lethe/ingest/embedded"
	"lethe/internal/diskroom"
	"lethe/internal/openfiles"
	"lethe/internal/patientfs"
	"lethe/internal/precedence"
	"lethe/metrics"
	"lethe/metrics/events"
	"lethe/pipeline/role"
	"lethe/pipeline/view"
	"lethe/service/opendsr"
	"lethe/service/supervisor"
	"lethe/trainer/kernels"
)

// Options configures a service.
type Options struct {
	Config configs.Config
	// Version names the program on receipts and in metrics.
	Version string
	// TakeOver confirms that the data directories that previously ran the roles are permanently
	// gone.
	TakeOver bool
	// ChangeSettings allows the process to train with other settings than those published by the
	// other training processes, which stop and start again with the new ones.
	ChangeSettings bool
	// Restoring means that the data directory is a restored backup, for which no other service starts. No alerts are sent
	// and no callbacks made.
	Restoring bool
	// Random is the source of new keys.
	Random io.Reader
	// Now is the clock; nil means the system's. It may step back.
	Now func() time.Time
	// Listener is notified of every event, like the metrics.
	Listener events.Listener
	Logger   *slog.Logger
}

// Defaults returns the options of a normal process.
func Defaults(c configs.Config, version string, logger *slog.Logger) Options {
	return Options{Config: c, Version: version, Random: rand.Reader, Logger: logger}
}

// Service is one process of lethe. Use New, Run once, then Close.
type Service struct {
	o      Options
	config configs.Config
	secret lethe.Secret
	// instance is the identity of the data directory, run that of the process, once its roles are
	// registered.
	instance, run string
	// begun means that the data directory existed before the process.
	begun bool
	key   ed25519.PrivateKey
	// authority defines which records must be signed.
	authority authority.Policy
	kernels   kernels.Set
	// pacer is shared by all searches of the process.
	pacer *scan.Pacer
	// first gives the predictions of a closed timestep precedence over deferrable work.
	first  precedence.Rule
	health *metrics.Health
	// sizes are those of the data directory.
	sizes diskroom.Sizes
	// listener combines the metrics that scrape serves, and the options' listener.
	listener events.Listener
	// sampler chooses the transactions that are reported individually.
	sampler events.Sampler
	scrape  http.Handler
	modules *supervisor.Supervisor

	outages *outages
	waits   *waits
	plans   plans
	// accesses log changes and looks at erasures.
	accesses accesses
	// ends are those of the source topics.
	ends *ends
	// patience delays writes while the disk is full; the roles' file system is the disk.
	patience *patientfs.Patience
	disk     vfs.FS

	// Results of opened modules that other modules use. compact and broker are nil with an
	// external Kafka. The patient client is for the roles, the other one is for requests, which
	// must not wait forever.
	port            net.Listener
	connections     openfiles.Connections
	bus             bus.Config
	compact         func() error
	broker          *embedded.Broker
	client, patient *bus.Client
	roles           []role.Role
	// view is the API's data, nil until the role is opened.
	view atomic.Pointer[view.Reader]
	// dsr is nil unless OpenDSR is enabled.
	dsr *opendsr.Service
	// partitions are the topics' numbers of partitions when the process began.
	partitions map[bus.Topic]int
	// identities are the ids of topics, which change when a topic is deleted and created again.
	identities map[string]string
	// others are the topics that were created again since the data directory was created.
	others []string
	// directories is how many data directories share each role, nil until that is known.
	directories atomic.Pointer[map[string]int]
	// open is set once all modules are open.
	open atomic.Bool
}

// The folders of a data directory.
const (
	brokerFolder   = "broker"
	receiptsFolder = "receipts"
)

// RestoringName is a file in a data directory that was restored from a backup, until everything
// that was erased since has been erased again.
const RestoringName = "RESTORING"

// CheckFinished refuses an incomplete data directory. The error has the remedy.
func CheckFinished(dataDir string) error {
	if _, err := os.Stat(filepath.Join(dataDir, RestoringName)); err == nil {
		return fmt.Errorf("%s: what was put here is not whole, and what was erased since may still be in it: "+
			"remove the folder and run lethe backup restore, or lethe keys rotate-secret, again", dataDir)
	}
	return nil
}

// RoleDir is the directory of a role within a data directory.
func RoleDir(dataDir, role string) string { return filepath.Join(dataDir, role) }

// BrokerDir is the directory of the embedded broker's log within a data directory.
func BrokerDir(dataDir string) string { return filepath.Join(dataDir, brokerFolder) }

// ReceiptsDir is the directory of the signed receipts within a data directory.
func ReceiptsDir(dataDir string) string { return filepath.Join(dataDir, receiptsFolder) }

// New prepares the data directory and the keys and opens every module of the configuration: it
// starts the embedded broker unless external brokers are configured, waits for the brokers, creates
// missing topics and opens the roles. The web server runs from the beginning. On an error
// everything that was opened is closed.
func New(ctx context.Context, o Options) (_ *Service, err error) {
	if err := o.Config.HTTP.CheckLogin(); err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Service{o: o, config: o.Config}
	if o.Restoring {
		// The data may yet be erased or discarded, so it is not sent anywhere.
		s.config.Webhooks, s.config.OpenDSR = configs.Webhooks{}, configs.OpenDSR{}
	}
	s.plans = plans{Service: s, pace: forecast.NewPace()}
	s.ends = &ends{ask: s.sourceEnds}
	s.pacer = scan.NewPacer(s.config.Erasure.SearchCPU, o.Now, coordinator.WallClock{}.Sleep)
	if err := CheckFinished(s.config.DataDir); err != nil && !o.Restoring {
		return nil, err
	}
	if err := s.prepare(); err != nil {
		return nil, err
	}
	if s.config.KMS.Address == "" {
		if err = (unsealing{s}).load(ctx); err != nil {
			return nil, err
		}
	}
	if s.authority, err = configs.LoadAuthority(s.config.Signatures); err != nil {
		return nil, err
	}
	if s.kernels, err = s.config.KernelSet(); err != nil {
		return nil, err
	}
	s.measure()
	s.patience = patientfs.New(s.outages.watchDisk)
	s.disk = s.patience.FS(vfs.Default)
	s.modules = supervisor.New(s.moduleList(), s.noteHealth)
	if err = s.modules.Open(ctx); err == nil {
		err = topicWatch{s}.refusal()
	}
	if err != nil {
		return nil, errors.Join(err, s.modules.Close())
	}
	s.patience.Begin()
	s.open.Store(true)
	return s, nil
}

// prepare sets up the data directory with its keys, and the limit of open files.
func (s *Service) prepare() (err error) {
	if err := MakeDataDir(s.config.DataDir); err != nil {
		return err
	}
	if s.begun = begunBefore(s.config.DataDir); s.begun && !s.o.Restoring {
		if err := keysAreThere(s.config); err != nil {
			return err
		}
	}
	closeToOthers(s.config.DataDir, s.o.Logger)
	s.connections, err = boundConnections(&s.config)
	return err
}

// Run runs the modules until the context ends, which is not an error, or one of
// them fails, which ends the others too.
func (s *Service) Run(ctx context.Context) error { return s.modules.Run(ctx) }

// Close closes everything that New opened: stores, connections, the broker. It must not be called while Run is
// running.
func (s *Service) Close() error { return s.modules.Close() }

// Client is the service's connection to the brokers.
func (s *Service) Client() *bus.Client { return s.client }

// HTTPAddress is the address of the web interface.
func (s *Service) HTTPAddress() string { return s.port.Addr().String() }

// Brokers are the addresses of the brokers in use.
func (s *Service) Brokers() []string { return s.bus.Brokers }
