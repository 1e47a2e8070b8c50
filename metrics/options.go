package metrics

import (
	"errors"
	"time"
)

// Options says what the metrics need to know of the process.
type Options struct {
	// Version, Revision and Kernels fill lethe_build_info: the release, the
	// commit it was built from and the numeric kernel set in use.
	Version, Revision, Kernels string
	// TopicPrefix is taken off topic names before they become labels.
	TopicPrefix string
	// Topics are the topics that are consumed, without prefix. Required.
	Topics []string
	// Followed are further topics, of which the lag is told and nothing else.
	Followed []string
	// Reasons are the codes of dead letters. Required.
	Reasons []string
	// Causes are those of what may be waited for.
	Causes []string
	// Now tells the time. Required.
	Now func() time.Time
}

// Validate reports everything that is missing.
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
