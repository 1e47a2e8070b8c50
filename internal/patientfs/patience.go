package patientfs

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Watch is told what is waited for, a path, and why, again and again as long as it
// lasts, then nil when it is over. It is called from several goroutines and must not
// block.
type Watch func(path string, err error)

// Patience says whether and how long writes wait. It may be used from several
// goroutines.
type Patience struct {
	watch    Watch
	patient  atomic.Bool
	stopped  chan struct{}
	stopOnce sync.Once
}

// New returns one that does not wait before Begin. The watch is told
// of every wait.
func New(watch Watch) *Patience {
	return &Patience{watch: watch, stopped: make(chan struct{})}
}

// Begin has writes wait from now on.
func (p *Patience) Begin() { p.patient.Store(true) }

// Stop ends all waiting, for good: what waits fails, as does what would.
func (p *Patience) Stop() { p.stopOnce.Do(func() { close(p.stopped) }) }

const (
	firstPause = 20 * time.Millisecond
	maxPause   = time.Second
)

// Do calls fn until it succeeds or fails for a reason that does not pass. It may be
// called again after it failed. A nil Patience does not wait.
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

// MayPass reports whether an error says that the disk takes no writes now and may
// later.
func MayPass(err error) bool {
	var refused syscall.Errno
	passes := []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EACCES, syscall.EPERM}
	return errors.As(err, &refused) && slices.Contains(passes, refused)
}
