package bus

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"

	"lethe/internal/sleep"
)

// Watch is told what a client waits for: the topic or partition, and why, every few
// seconds as long as it lasts, then nil when it is over, or ErrAbandoned. It is called from several
// goroutines and must not block.
type Watch func(place string, err error)

// OpenPatient is Open for those who have nothing better to do than to wait: until
// its context ends, no call fails for reasons that may pass, such as brokers that
// are away, are slow, elect leaders, or refuse a password, a certificate or a right,
// which an operator may mend meanwhile, topics that were there and are deleted, and records that are
// refused for settings of topics that are not lethe's. Settings that brokers refuse and topics that
// were never there still are errors.
func OpenPatient(cfg Config, watch Watch) (*Client, error) {
	c, err := Open(cfg)
	if err == nil {
		c.watch = watch
	}
	return c, err
}

// Patient opens another client of the same brokers, as OpenPatient does.
func Patient(c *Client, watch Watch) (*Client, error) { return OpenPatient(c.cfg, watch) }

const (
	// firstWord is how long something may fail before it is told.
	firstWord = time.Second
	// attemptsMax bounds the attempts of a client that is not patient.
	attemptsMax = 8
	// believe says how many times the dial timeout a topic must be missing, or a position past its end, to be
	// believed so: a broker that comes back may not know its topics, or who leads, at once.
	believe = 6
)

// effort is something that is tried until it works. Whoever begins one defers abandoned.
type effort struct {
	client  *Client
	place   string
	attempt int
	// since is when the first attempt began that failed, spoken when it was last told.
	since, spoken time.Time
}

func newEffort(c *Client, place string) *effort {
	return &effort{client: c, place: place, since: time.Now()}
}

// failed waits until it is time to try again. It returns why not, if it is not.
func (e *effort) failed(ctx context.Context, err error) error {
	c := e.client
	if stopped := ctx.Err(); errors.Is(stopped, context.Canceled) {
		return fmt.Errorf("%w: %w", stopped, err)
	} else if stopped != nil {
		return err
	}
	if c.watch == nil {
		if e.attempt == attemptsMax || !isTemporary(err) && !isMissing(err) {
			return denied(e.place, err)
		}
	} else if e.final(err) {
		return err
	}
	e.tell(err)
	if stopped := pause(ctx, e.attempt); stopped != nil {
		return errors.Join(stopped, err)
	}
	e.attempt++
	return nil
}

// abandoned ends a row of failures of which nobody waits for the end, if it did not end with a
// success: what waits for it next tells of itself.
func (e *effort) abandoned() {
	if !e.spoken.IsZero() && e.client.watch != nil {
		e.client.watch(e.place, ErrAbandoned)
	}
	e.spoken = time.Time{}
}

// final reports whether a patient client gives up.
func (e *effort) final(err error) bool {
	switch {
	case errors.Is(err, errDoubtful):
		return e.lasted()
	case errors.Is(err, ErrUnknownTopic), isMissing(err):
		return e.lasted() && (e.client.watch == nil || !e.client.met.has(e.place))
	}
	return mustChange(err) || e.client.watch == nil && keptOut(denied(e.place, err))
}

// lasted reports whether it has failed for so long that brokers are believed.
func (e *effort) lasted() bool { return time.Since(e.since) > believe*e.client.cfg.DialTimeout }

// tell passes on what has lasted a while, and again after a while.
func (e *effort) tell(err error) {
	now := time.Now()
	lasted, again := now.Sub(e.since) >= firstWord, now.Sub(e.spoken) >= e.client.cfg.DialTimeout
	if e.client.watch != nil && lasted && again {
		e.spoken = now
		if cause := e.client.link.cause(); cause != nil && maybeUnreachable(err) {
			err = cause
		}
		e.client.watch(e.place, denied(e.place, err))
	}
}

// insist tells of what waiting does not mend, until the context ends.
func (e *effort) insist(ctx context.Context, err error) {
	for ctx.Err() == nil {
		e.spoken = time.Now()
		e.client.watch(e.place, err)
		if sleep.For(ctx, e.client.cfg.DialTimeout) != nil {
			return
		}
	}
}

// worked ends a row of failures.
func (e *effort) worked() {
	if !e.spoken.IsZero() && e.client.watch != nil {
		e.client.watch(e.place, nil)
	}
	e.attempt, e.since, e.spoken = 0, time.Now(), time.Time{}
	e.client.met.add(e.place)
}

// met are topics of which something has worked. One that is missing since was deleted while lethe runs, and may be put
// back: that ends nobody. One that was never there does. The zero value has none; several goroutines may use it.
type met struct{ topics sync.Map }

// topicOf is the topic of a place: a topic or a partition.
func topicOf(place string) string {
	topic, _, _ := strings.Cut(place, "/")
	return topic
}

func (m *met) add(place string) { m.topics.Store(topicOf(place), true) }

func (m *met) has(place string) bool {
	_, found := m.topics.Load(topicOf(place))
	return found
}

// mustChange reports whether waiting cannot help, because brokers refuse what was
// asked and do not call that temporary.
func mustChange(err error) bool {
	if keptOut(denied("", err)) {
		return false
	}
	if errors.Is(err, ErrTooLarge) || errors.Is(err, ErrUnknownTopic) || errors.Is(err, ErrClosed) ||
		errors.Is(err, ErrPastEnd) {
		return true
	}
	var code kafka.Error
	return errors.As(err, &code) && code != kafka.Unknown && !isTemporary(err) && !isMissing(err)
}

// MayPass reports whether what failed may work later without anybody's doing: brokers are
// away or slow, or say themselves that the request can be made again.
func MayPass(err error) bool {
	return !mustChange(err) && !keptOut(denied("", err)) &&
		(isTemporary(err) || isMissing(err) || errors.Is(err, ErrBrokerUnreachable))
}

// until calls fn until it works, for a patient client; for others once.
func until(ctx context.Context, c *Client, place string, fn func() error) error {
	if c.watch == nil {
		return fn()
	}
	e := newEffort(c, place)
	defer e.abandoned()
	for {
		err := fn()
		if err == nil {
			e.worked()
			return nil
		}
		if ctx.Err() != nil {
			return err
		}
		if err := e.failed(ctx, err); err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
	}
}

const (
	firstPause = 20 * time.Millisecond
	maxPause   = time.Second
)

// pause waits before the given attempt (0 is the first retry), or until the
// context ends, whose error it returns.
func pause(ctx context.Context, attempt int) error {
	return sleep.For(ctx, min(firstPause<<min(attempt, 10), maxPause))
}
