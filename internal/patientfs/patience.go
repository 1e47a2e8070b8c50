package patientfs

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Watch is notified whenever an operation waits: with the path and the error, repeatedly while it
// lasts, then with nil when it is over. It is called from several goroutines and must not block.
type Watch func(path string, err error)

// Patience controls whether and how long writes wait. It may be used from several goroutines.
type Patience struct {
	watch    Watch
	patient  atomic.Bool
	stopped  chan struct{}
	stopOnce sync.Once
}

// New returns a Patience that fails at once until Begin is called; watch is notified whenever an
// operation waits.
func New(watch Watch) *Patience {
	return &Patience{watch: watch, stopped: make(chan struct{})}
}

// Begin makes writes wait from now on.
func (p *Patience) Begin() { p.patient.Store(true) }

// Stop ends all waiting permanently: waiting operations fail, and later ones fail at once.
func (p *Patience) Stop() { p.stopOnce.Do(func() { close(p.stopped) }) }

const (
	firstPause = 20 * time.Millisecond
	maxPause   = time.Second
)

// Do calls fn until it succeeds or fails with a permanent error. fn must be repeatable after an
// error. A nil Patience does not wait.
func (p *Patience) Do(path string, fn func() error) error {
	err := fn()
	if err == nil || p == nil || !p.patient.Load() || !MayPass(err) {
		return err
	}
	defer p.watch(path, nil)
	for wait := firstPause; ; wait = min(2*wait, maxPause) {
		p.watch(path, err)
		select {
		case <-time.After(wait):
		case <-p.stopped:
			return err
		}
		if err = fn(); err == nil || !MayPass(err) {
			return err
		}
	}
}

// MayPass reports whether an error means that the disk cannot be written now but may be later.
func MayPass(err error) bool {
	var refused syscall.Errno
	passes := []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EACCES, syscall.EPERM}
	return errors.As(err, &refused) && slices.Contains(passes, refused)
}
