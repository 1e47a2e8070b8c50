package metrics

import (
	"errors"
	"time"
)

// Options configures the metrics.
type Options struct {
	// Version, Revision and Kernels fill lethe_build_info: the release, the
	// commit it was built from and the numeric kernel set in use.
	Version, Revision, Kernels string
	// TopicPrefix is removed from topic names before they become labels.
	TopicPrefix string
	// Topics are the consumed topics, without prefix. Required.
	Topics []string
	// Followed are additional topics, for which only the lag is reported.
	Followed []string
	// Reasons are the codes of dead letters. Required.
	Reasons []string
	// Causes are the causes of waits.
	Causes []string
	// Now is the clock. Required.
	Now func() time.Time
}

// Validate reports all missing options.
func (o Options) Validate() error {
	var problems []error
	if len(o.Topics) == 0 {
		problems = append(problems, errors.New("no topics, want at least one"))
	}
	if len(o.Reasons) == 0 {
		problems = append(problems, errors.New("no reasons of dead letters, want at least one"))
	}
	if o.Now == nil {
		problems = append(problems, errors.New("no clock"))
	}
	return errors.Join(problems...)
}
