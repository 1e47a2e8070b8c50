package role

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"lethe/ingest/bus"
	"lethe/pipeline/journal"
	"lethe/pipeline/wire"
)

// ErrLedElsewhere ends the work of a leader that is the leader no more.
var ErrLedElsewhere = journal.ErrFenced

const (
	// announcements is how often, in a session, a leader says how far it is; each time brokers
	// are asked whether it still leads.
	announcements = 24
)

// Lead is this process's part in a role that one process plays at a time, while others stand by:
// whether it leads, and how far who leads has come. The processes are a consumer group of
// control.v1, which has one partition: who has it leads. What the leader has dealt with are
// the offsets of that group, which brokers take from its present generation alone.
type Lead struct {
	role, instance string
	sharer         Sharer
	group          bus.GroupConfig
	// now tells a time that goes on while the process is stopped.
	now func() time.Time
	log *slog.Logger

	mu sync.Mutex
	// changed is closed, and replaced, with every change of what follows.
	changed chan struct{}
	// term counts how often this process has become the leader; leads says that it is.
	term  int64
	leads bool
	// prepared is the term for which it has read what it reads before it leads.
	prepared int64
	// generation is that of the last assignment, epoch the one of the journal that this process has begun last, and
	// confirmed when brokers were last asked with
	// success whether it is still the one.
	generation int64
	epoch      int64
	confirmed  time.Time
	// dealt is up to where this process has dealt with partitions.
	dealt map[bus.TopicPartition]int64
	// trouble is what was told last.
	trouble string
	// writing are the ends of what is being written, see write.
	writing map[int]context.CancelFunc
	writes  int
	sayings sayings
}

// NewLead returns the part of a data directory in a role. The clock is the one by which the sharer
// says when brokers were asked; it must go on while the process is stopped, as time.Now does.
func NewLead(role, instance string, sharer Sharer, now func() time.Time, log *slog.Logger) *Lead {
	l := &Lead{
		role: role, instance: instance, sharer: sharer, now: now, log: log,
		changed: make(chan struct{}), dealt: make(map[bus.TopicPartition]int64),
		writing: make(map[int]context.CancelFunc), sayings: sayings{turn: make(chan struct{}, 1)},
	}
	l.group = bus.GroupConfig{
		Name: role, Topic: bus.Control, CommitEvery: sharer.Session() / announcements, Rank: l.rank,
	}
	return l
}

// Run takes part in the group until the context ends, which is no error.
func (l *Lead) Run(ctx context.Context) error {
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
	has := len(a.Partitions) > 0
	goesOn := has && l.leads && a.Generation == l.generation+1
	if has && !goesOn {
		l.term++
		l.log.Info(l.role+": this process leads", "generation", a.Generation)
	}
	if !has {
		l.log.Info(l.role+": another process leads, this one stands by", "generation", a.Generation)
	}
	if !goesOn {
		for _, end := range l.writing {
			end()
		}
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

// positions are up to where this process has dealt with partitions. There is always one of control.v1, so that brokers
// are asked whether it leads.
func (l *Lead) positions() map[bus.TopicPartition]int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	out, control := maps.Clone(l.dealt), bus.TopicPartition{Topic: bus.Control}
	out[control] = max(0, out[control])
	return out
}

// prepares reports whether this process has dealt with partitions up to some positions, and notes that it has: these it
// reads before it leads in a term.
func (l *Lead) prepares(term int64, with map[bus.TopicPartition]int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for tp, next := range with {
		if max(0, l.dealt[tp]) < next {
			return false
		}
	}
	l.prepared = term
	return true
}

// passed reports whether a term is over for which this process was to lead.
func (l *Lead) passed(term int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return term != 0 && (!l.leads || term != l.term)
}

// dealtWith notes that all that is due of partitions up to some positions is published.
func (l *Lead) dealtWith(positions map[bus.TopicPartition]int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.Copy(l.dealt, positions)
}

// Term returns the term in which this process leads, or 0: then it is to stand by.
func (l *Lead) Term() int64 {
	term, _ := l.leading()
	return term
}

// Next returns the term for which a role is opened that was open for another: one that led stands
// by first, for others may have led since, of whom it has read nothing, and so does one that has not
// read what it reads before it leads in the present term.
func (l *Lead) Next(before int64) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if before > 0 || !l.leads || l.term != l.prepared {
		return 0
	}
	return l.term
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

// until waits until this process leads in another term than one, 0 for standing by, and returns that one.
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

// announced returns up to where who leads has dealt with partitions.
func (l *Lead) announced(ctx context.Context, of []bus.TopicPartition) (map[bus.TopicPartition]int64, error) {
	return l.sharer.Positions(ctx, l.group, of)
}
