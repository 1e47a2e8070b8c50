package embedded

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"lethe/ingest/bus"
)

var (
	// ErrInUse marks a directory that another broker is using. The caller
	// should stop the other process or choose another directory.
	ErrInUse = errors.New("directory is in use by another broker")

	// ErrClosed marks the use of a broker after Close.
	ErrClosed = errors.New("broker is closed")

	// ErrDamaged marks a compaction that could not write what it had read,
	// usually because the disk is full. The broker has closed itself; Start
	// puts the log back as it was before.
	ErrDamaged = errors.New("compaction failed")
)

// never is longer than any process runs: kfake's own compaction, which keeps
// no links, must not start.
const never = 20 * 365 * 24 * time.Hour

// Broker is a running broker.
type Broker struct {
	options Options
	address string
	cluster *kfake.Cluster
	log     *logger
	lock    *dirLock
	stop    chan struct{}
	done    sync.WaitGroup

	mu     sync.Mutex // one compaction at a time, none after Close
	closed bool
	// compactedBytes is the size of the log when it was last compacted.
	compactedBytes int64
}

// Start opens or makes the log in options.Dir and listens. Errors name the
// directory or the address they are about.
func Start(options Options) (*Broker, error) {
	options.EnsureDefaults()
	if err := options.Validate(); err != nil {
		return nil, fmt.Errorf("embedded broker options: %w", err)
	}
	if err := os.MkdirAll(options.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("embedded broker: make directory %s: %w", options.Dir, err)
	}
	lock, err := lockDir(options.Dir)
	if err != nil {
		return nil, fmt.Errorf("embedded broker: lock directory %s: %w", options.Dir, err)
	}
	b, err := open(options, lock)
	if err != nil {
		return nil, errors.Join(err, lock.release())
	}
	b.done.Go(b.clean)
	return b, nil
}

func open(options Options, lock *dirLock) (*Broker, error) {
	if err := restore(options.Dir); err != nil {
		return nil, fmt.Errorf("embedded broker: restore the log in %s: %w", options.Dir, err)
	}
	b := &Broker{options: options, lock: lock, log: &logger{to: options.Logger}, stop: make(chan struct{})}
	var listenErr error
	opts := []kfake.Opt{
		kfake.Ports(options.Port),
		kfake.ClusterID("lethe"),
		kfake.DataDir(logDir(options.Dir)),
		kfake.WithLogger(b.log),
		kfake.BrokerConfigs(map[string]string{
			"log.cleaner.backoff.ms": strconv.FormatInt(never.Milliseconds(), 10),
		}),
		kfake.ListenFn(func(network, address string) (net.Listener, error) {
			l, err := net.Listen(network, address)
			if err != nil {
				listenErr = fmt.Errorf("embedded broker: listen on %s: %w", address, err)
			}
			return l, err
		}),
	}
	if options.SyncWrites {
		opts = append(opts, kfake.SyncWrites())
	}
	cluster, err := kfake.NewCluster(opts...)
	switch {
	case listenErr != nil:
		return nil, listenErr
	case err != nil:
		return nil, fmt.Errorf("embedded broker: open the log in %s: %w", options.Dir, err)
	}
	b.cluster = cluster
	b.address = cluster.ListenAddrs()[0]
	return b, nil
}

// Addr is the broker's host:port.
func (b *Broker) Addr() string { return b.address }

// Config is what a client of this broker needs. Erasure requests stay until
// they are purged, because expiry could empty a partition.
func (b *Broker) Config() bus.Config {
	return bus.Config{Brokers: []string{b.address}, ReplicationFactor: 1, ErasureRetention: -1}
}

// Close stops the broker and writes what makes the next start fast. Closing
// twice is fine.
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
	b.cluster.Close()
	return b.lock.release()
}

func logDir(dir string) string { return filepath.Join(dir, "log") }
