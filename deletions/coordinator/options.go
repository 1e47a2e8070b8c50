package coordinator

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/metrics/events"
)

// Config are the coordinator's settings.
type Config struct {
	Secret     lethe.Secret
	SigningKey ed25519.PrivateKey
	// KernelSet and Version are named on receipts.
	KernelSet, Version string
	// ReceiptsDir is where signed receipts are kept. It is searched too.
	ReceiptsDir string
	// BrokerDir is the embedded broker's folder, which is searched too; empty
	// with an outside Kafka.
	BrokerDir string
	// Compact, if not nil, makes the broker's cleaner run at once.
	Compact func() error
	// VerifyTimeout bounds how long compaction is waited for before a request
	// counts as failed and is tried again.
	VerifyTimeout time.Duration
	// OneHop says that rows hold means of their neighbours' features, which
	// scope shard would leave as they are.
	OneHop bool
	Limits ingest.Limits
}

// Options are the settings and the surroundings.
type Options struct {
	Config
	Ledger *deletions.Ledger
	Graphs Graphs
	Notes  Notes
	// Receipts is, if nil, the folder for them.
	Receipts Receipts
	Bus      Bus
	Clock    Clock
	Listener events.Listener
	Logger   *slog.Logger
}

// Validate reports every problem at once. What only the first receipt would
// stumble over is refused here.
func (o *Config) Validate() error {
	var errs []error
	require := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	require(o.ReceiptsDir != "", "receipts dir is empty")
	require(o.VerifyTimeout > 0, "verify timeout is %v, must be positive", o.VerifyTimeout)
	require(len(o.SigningKey) == ed25519.PrivateKeySize,
		"signing key has %d bytes, want %d", len(o.SigningKey), ed25519.PrivateKeySize)
	require(o.KernelSet != "", "kernel set is empty, receipts must name it")
	require(o.Version != "", "version is empty, receipts must name it")
	return errors.Join(errs...)
}
