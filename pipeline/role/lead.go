package role

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// ErrLedElsewhere ends the work of a leader that is the leader no more.
var ErrLedElsewhere = errors.New("another process leads")

const (
	// announcements is how often, in a session, a leader says how far it is; each time brokers
	// are asked whether it still leads.
	announcements = 24
	// leaseParts is the part of a session for which a leader relies on what brokers last said.
	leaseParts = 2
)

// Lead is this process's part in a role that one process plays at a time, while others stand by:
// whether it leads, and how far who leads has come. The processes are a consumer group of
// erasure-status.v1, which has one partition: who has it leads. What the leader has dealt with are
// the offsets of that group, which brokers take from its present generation alone.
type Lead struct {
	role, instance string
	sharer         Sharer
	group          bus.GroupConfig
	log            *slog.Logger

	mu sync.Mutex
	// changed is closed, and replaced, with every change of what follows.
	changed chan struct{}
	// term counts how often this process has become the leader; leads says that it is.
	term  int64
	leads bool
	// generation is that of the last assignment, and confirmed when brokers were last asked with
	// success whether it is still the one.
	generation int64
	confirmed  time.Time
	// dealt is up to where this process has dealt with partitions.
	dealt map[bus.TopicPartition]int64
	// trouble is what was told last.
	trouble string
}

// NewLead returns the part of a data directory in a role.
func NewLead(role, instance string, sharer Sharer, log *slog.Logger) *Lead {
	l := &Lead{
		role: role, instance: instance, sharer: sharer, log: log,
		changed: make(chan struct{}), dealt: make(map[bus.TopicPartition]int64),
	}
	l.group = bus.GroupConfig{
		Name: role, Topic: bus.ErasureStatus, CommitEvery: sharer.Session() / announcements, Rank: l.rank,
	}
	return l
}

// run takes part in the group until the context ends, which is no error.
func (l *Lead) run(ctx context.Context) error {
	err := l.sharer.Share(ctx, l.group, bus.Member{
		Assigned: l.assigned, Positions: l.positions, Committed: l.committed,
		Trouble: l.troubled,
	})
	return wire.UnlessStopped(ctx, err)
}

// troubled tells of trouble with the group, the same once until who leads is known again.
func (l *Lead) troubled(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if text := err.Error(); text != l.trouble {
		l.trouble = text
		l.log.Warn(l.role+": the group that chooses who leads is out of reach", "error", err)
	}
}

// rank is in favour of who leads, and then of who is ahead.
func (l *Lead) rank() bus.Rank {
	l.mu.Lock()
	defer l.mu.Unlock()
	var r bus.Rank
	if l.leads {
		r.Has = l.generation
	}
	for _, at := range l.dealt {
		r.Far += max(0, at)
	}
	return r
}

// assigned notes who leads from now on. A leader that is assigned again goes on, if nobody can
// have led in between.
func (l *Lead) assigned(a bus.Assigned) {
	l.mu.Lock()
	defer l.mu.Unlock()
	has, goesOn := len(a.Partitions) > 0, l.leads && a.Generation == l.generation+1
	if has && !goesOn {
		l.term++
		l.log.Info(l.role+": this process leads", "generation", a.Generation)
	}
	if !has {
		l.log.Info(l.role+": another process leads, this one stands by", "generation", a.Generation)
	}
	l.leads, l.generation, l.confirmed, l.trouble = has, a.Generation, time.Time{}, ""
	l.change()
}

// committed notes that brokers took positions of a generation.
func (l *Lead) committed(generation int64, asked time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.leads && generation == l.generation {
		l.confirmed = asked
		l.change()
	}
}

func (l *Lead) change() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// positions are up to where this process has dealt with partitions. There is always one, so that
// brokers are asked.
func (l *Lead) positions() map[bus.TopicPartition]int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := maps.Clone(l.dealt)
	status := bus.TopicPartition{Topic: bus.ErasureStatus}
	out[status] = max(0, out[status])
	return out
}

// dealtWith notes that all that is due of a partition up to a position is published. It may be
// called of a nil Lead.
func (l *Lead) dealtWith(tp bus.TopicPartition, next int64) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dealt[tp] = next
}

// leading returns the term in which this process leads, or 0, and what is closed when that may
// have changed.
func (l *Lead) leading() (term int64, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.leads {
		term = l.term
	}
	return term, l.changed
}

// until waits until this process leads in another term than one, 0 for standing by, and returns
// that one.
func (l *Lead) until(ctx context.Context, other int64) (int64, error) {
	for {
		term, changed := l.leading()
		if term != other {
			return term, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return term, ctx.Err()
		}
	}
}

// holds returns once it is certain that this process led in a term a moment ago: brokers said so
// after half a session, in which they would have made nobody else the leader. A process that was
// stopped for longer asks again. Errors: ErrLedElsewhere, the context's.
func (l *Lead) holds(ctx context.Context, term int64) (wire.Owner, error) {
	for {
		l.mu.Lock()
		now, changed := l.owner(), l.changed
		lost := !l.leads || l.term != term
		fresh := time.Since(l.confirmed) < l.sharer.Session()/leaseParts
		l.mu.Unlock()
		switch {
		case lost:
			return wire.Owner{}, ErrLedElsewhere
		case fresh:
			return now, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return wire.Owner{}, cmp.Or(ctx.Err(), ErrLedElsewhere)
		}
	}
}

func (l *Lead) owner() wire.Owner { return wire.Owner{Generation: l.generation, Instance: l.instance} }

// announced returns up to where who leads has dealt with partitions.
func (l *Lead) announced(ctx context.Context, of []bus.TopicPartition) (map[bus.TopicPartition]int64, error) {
	return l.sharer.Positions(ctx, l.group, of)
}
