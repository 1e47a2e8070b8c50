package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Options says where the broker keeps its log and how. Only Dir is required.
type Options struct {
	// Dir holds the log and the lock. It is made if it does not exist.
	Dir string
	// Port on 127.0.0.1; 0 takes a free one.
	Port int
	// SyncWrites makes every write wait for the disk.
	SyncWrites bool
	// CleanInterval is how often the cleaner looks for something to compact.
	// Default 1 s. Negative: only Compact compacts.
	CleanInterval time.Duration
	// Logger receives the broker's warnings. They name topics and partitions,
	// never keys. Default: discarded.
	Logger *slog.Logger
}

// EnsureDefaults fills in what is zero.
func (o *Options) EnsureDefaults() {
	if o.CleanInterval == 0 {
		o.CleanInterval = time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

// Validate reports everything that is wrong.
func (o *Options) Validate() error {
	var problems []error
	if o.Dir == "" {
		problems = append(problems, errors.New("no directory"))
	}
	if o.Port < 0 || o.Port > 65535 {
		problems = append(problems, fmt.Errorf("port is %d, want 0..65535", o.Port))
	}
	if o.CleanInterval > 0 && o.CleanInterval < time.Millisecond {
		problems = append(problems, fmt.Errorf("clean interval is %v, want at least 1ms", o.CleanInterval))
	}
	return errors.Join(problems...)
}
