package ingest

import (
	"errors"
	"fmt"
)

// Limits bounds what decoding accepts. The zero value means the defaults.
type Limits struct {
	// FeatureCount is the number of features of every transaction; 0 accepts
	// any number from 1 to MaxFeatureCount, and the caller fixes it by the
	// first transaction it takes.
	FeatureCount int
	// MaxFeatureCount bounds the features of one transaction. Default 4,096.
	MaxFeatureCount int
	// MaxRecordBytes bounds key, value and headers together. Default 1,000,000,
	// which leaves room for the broker's framing under its own limit of 1 MiB.
	MaxRecordBytes int
	// MaxErasureNodes bounds the nodes of one request. Default 1,000.
	MaxErasureNodes int
}

// EnsureDefaults fills in what is zero.
func (l *Limits) EnsureDefaults() {
	if l.MaxFeatureCount == 0 {
		l.MaxFeatureCount = 4096
	}
	if l.MaxRecordBytes == 0 {
		l.MaxRecordBytes = 1_000_000
	}
	if l.MaxErasureNodes == 0 {
		l.MaxErasureNodes = 1000
	}
}

// Validate reports every limit that cannot be met.
func (l *Limits) Validate() error {
	var problems []error
	positive := func(name string, value int) {
		if value < 1 {
			problems = append(problems, fmt.Errorf("%s is %d, want at least 1", name, value))
		}
	}
	positive("max feature count", l.MaxFeatureCount)
	positive("max record bytes", l.MaxRecordBytes)
	positive("max erasure nodes", l.MaxErasureNodes)
	if l.FeatureCount < 0 || l.FeatureCount > l.MaxFeatureCount {
		problems = append(problems, fmt.Errorf("feature count is %d, want 0..%d", l.FeatureCount, l.MaxFeatureCount))
	}
	return errors.Join(problems...)
}
