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

// Watch is called when a client waits: with the topic or partition and the error, every few seconds as long as it
// lasts, then with nil when it is over, or with ErrAbandoned. An error that wraps ErrPastEnd is reported once and
// remains: the partition is not read any further. It is called from several goroutines and must not block.
type Watch func(place string, err error)

// OpenPatient opens a client that retries without limit: until its context ends, no call fails for
// a temporary reason. These are brokers that are down, slow or electing leaders; a refused
// password, certificate or right, which an operator may fix meanwhile; topics that existed and were
// deleted; and records that are rejected because of topic settings that differ from lethe's.
// Settings that brokers refuse and topics that never existed are still errors.
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
	// firstWord is how long a failure must last before it is reported.
	firstWord = time.Second
	// attemptsMax bounds the attempts of a client that is not patient.
	attemptsMax = 8
	// believe is the number of dial timeouts for which a topic must be missing, or a position past
	// its end, before it is considered true: a broker that restarts may not know its topics or
	// leaders at once.
	believe = 6
)

// effort is an operation that is retried until it succeeds. Callers must defer abandoned.
type effort struct {
	client  *Client
	place   string
	attempt int
	// since is the start of the first failed attempt, spoken the time of the last
	// report.
	since, spoken time.Time
}

func newEffort(c *Client, place string) *effort {
	return &effort{client: c, place: place, since: time.Now()}
}

// failed waits until the next attempt is due, or returns the reason why there is none.
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
	e.report(err)
	if stopped := pause(ctx, e.attempt); stopped != nil {
		return errors.Join(stopped, err)
	}
	e.attempt++
	return nil
}

// abandoned ends a series of failures that did not end in success, when the caller stops
// waiting: the next operation reports its own failures.
func (e *effort) abandoned() {
	if !e.spoken.IsZero() && e.client.watch != nil {
		e.client.watch(e.place, ErrAbandoned)
	}
	e.spoken = time.Time{}
}

// final reports whether a patient client must give up.
func (e *effort) final(err error) bool {
	switch {
	case errors.Is(err, errDoubtful):
		return e.lasted()
	case errors.Is(err, ErrUnknownTopic), isMissing(err):
		return e.lasted() && (e.client.watch == nil || !e.client.met.has(e.place))
	}
	return mustChange(err) || e.client.watch == nil && keptOut(denied(e.place, err))
}

// lasted reports whether the failure has lasted so long that brokers are trusted.
func (e *effort) lasted() bool { return time.Since(e.since) > believe*e.client.cfg.DialTimeout }

// report reports a failure that has lasted a while, and again at intervals.
func (e *effort) report(err error) {
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

// worked ends a series of failures.
func (e *effort) worked() {
	if !e.spoken.IsZero() && e.client.watch != nil {
		e.client.watch(e.place, nil)
	}
	e.attempt, e.since, e.spoken = 0, time.Now(), time.Time{}
	e.client.met.add(e.place)
}

// met are the topics on which a request has succeeded. If such a topic is missing later, it was
// deleted while lethe runs and may be restored, so the client waits. A topic that never existed is
// an error. The zero value is empty; it is safe for concurrent use.
type met struct{ topics sync.Map }

// topicOf returns the topic of a place, which is a topic or a partition.
func topicOf(place string) string {
	topic, _, _ := strings.Cut(place, "/")
	return topic
}

func (m *met) add(place string) { m.topics.Store(topicOf(place), true) }

func (m *met) has(place string) bool {
	_, found := m.topics.Load(topicOf(place))
	return found
}

// mustChange reports whether waiting cannot help, because brokers rejected the request
// and do not mark the error as temporary.
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

// MayPass reports whether the operation may succeed later without intervention: brokers
// are down or slow, or mark the error as retriable.
func MayPass(err error) bool {
	return !mustChange(err) && !keptOut(denied("", err)) &&
		(isTemporary(err) || isMissing(err) || errors.Is(err, ErrBrokerUnreachable))
}

// until calls fn until it succeeds, for a patient client; for others once.
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

// pause waits before the given attempt (0 is the first retry), or until the context ends,
// and then returns its error.
func pause(ctx context.Context, attempt int) error {
	return sleep.For(ctx, min(firstPause<<min(attempt, 10), maxPause))
}
