package embedded

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"lethe/ingest/bus"
	"lethe/ingest/embedded/door"
)

var (
	// ErrClosed marks the use of a broker after Close.
	ErrClosed = errors.New("broker is closed")

	// ErrDamaged marks a compaction that could not write the records it had read, usually because the disk is full. The
	// broker rejects all requests until it has restored the log, which it retries by itself. Try again later.
	ErrDamaged = errors.New("compaction failed")
)

// never is longer than any process runs: kfake's own compaction, which does not protect the files
// by links, must not start.
const never = 20 * 365 * 24 * time.Hour

// Broker is a running broker.
type Broker struct {
	dir     string
	config  Config
	logger  *slog.Logger
	address string
	port    int // the port in use, once listening
	cluster *kfake.Cluster
	door    *door.Listener
	log     *kfakeLogger
	lock    io.Closer
	stop    chan struct{}
	done    sync.WaitGroup

	files  sync.RWMutex // the log's files are read, or compacted; before mu
	mu     sync.Mutex   // one compaction at a time, none after Close
	closed bool
	// down is why the broker is stopped until its log is restored; cluster is nil then.
	down error
	// left is the size of the log after its last compaction, compacted the time at which that
	// ended, compacting its duration.
	left       logSize
	compacted  time.Time
	compacting time.Duration
}

// Start opens or creates the log in a directory and listens. The logger receives the broker's
// warnings, which name topics and partitions, never keys. Errors name the directory or the address.
func Start(dir string, c Config, logger *slog.Logger) (*Broker, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("embedded broker: %w", err)
	}
	if dir == "" {
		return nil, errors.New("embedded broker: no directory")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("embedded broker: make directory %s: %w", dir, err)
	}
	lock, err := LockDir(dir)
	if err != nil {
		return nil, fmt.Errorf("embedded broker: lock directory %s: %w", dir, err)
	}
	b := &Broker{dir: dir, config: c, logger: logger, lock: lock, log: &kfakeLogger{to: logger}, port: c.Port,
		stop: make(chan struct{})}
	if err := b.open(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	from := b.size().all
	b.done.Go(func() { b.clean(from) })
	return b, nil
}

// open restores the log and starts to listen.
func (b *Broker) open() error {
	if err := restore(b.dir); err != nil {
		return fmt.Errorf("embedded broker: restore the log in %s: %w", b.dir, err)
	}
	if err := verify(b.dir); err != nil {
		return fmt.Errorf("embedded broker: read the log in %s: %w", b.dir, err)
	}
	var listenErr error
	opts := []kfake.Opt{
		kfake.Ports(b.port),
		kfake.ClusterID(bus.EmbeddedClusterID),
		kfake.DataDir(logDir(b.dir)),
		kfake.WithLogger(b.log),
		kfake.MaxVersions(door.Versions()),
		kfake.BrokerConfigs(map[string]string{
			"log.cleaner.backoff.ms": strconv.FormatInt(never.Milliseconds(), 10),
		}),
		kfake.ListenFn(func(network, address string) (net.Listener, error) {
			l, err := net.Listen(network, address)
			if err != nil {
				listenErr = fmt.Errorf("embedded broker: listen on %s: %w", address, err)
				return nil, err
			}
			b.door = door.Guard(l, door.Options{
				Connections: b.config.connections(), DeleteTopics: b.config.DeleteTopics,
				StoreAny: b.config.StoreAny,
				OwnTopic: bus.IsOwn, Logger: b.logger,
			})
			return b.door, nil
		}),
	}
	if b.config.SyncWrites {
		opts = append(opts, kfake.SyncWrites())
	}
	cluster, err := kfake.NewCluster(opts...)
	switch {
	case listenErr != nil:
		return listenErr
	case err != nil:
		return fmt.Errorf("embedded broker: open the log in %s: %w (put the broker's folder back from a copy of one "+
			"time with the data directory)", b.dir, err)
	}
	b.cluster = cluster
	if err := removeSnapshots(b.dir); err != nil {
		cluster.Close()
		return fmt.Errorf("embedded broker: open the log in %s: %w", b.dir, err)
	}
	b.address = cluster.ListenAddrs()[0]
	if at, err := netip.ParseAddrPort(b.address); err == nil {
		b.port = int(at.Port())
	}
	return nil
}

// Config returns the configuration for clients of this broker. Erasure requests are retained until
// they are purged, because expiry could empty a partition.
func (b *Broker) Config() bus.Config {
	c := bus.At(b.address)
	c.ErasureRetention = bus.Forever
	return c
}

// Close stops the broker and writes the state for a fast start. It may be called twice.
func (b *Broker) Close() error {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return nil
	}
	b.closed = true
	b.mu.Unlock()
	close(b.stop)
	b.done.Wait()
	if b.cluster != nil {
		b.cluster.Close()
	}
	return b.lock.Close()
}

func logDir(dir string) string { return filepath.Join(dir, "log") }
