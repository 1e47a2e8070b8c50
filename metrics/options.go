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
	// Now tells the time, time.Now by default.
	Now func() time.Time
}

// EnsureDefaults returns the options with unset fields filled in.
func (o Options) EnsureDefaults() Options {
	if o.Version == "" {
		o.Version = "dev"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
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
	return errors.Join(problems...)
}
