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

// ErrLedElsewhere ends the work of a process that no longer leads.
var ErrLedElsewhere = journal.ErrFenced

const (
	// announcements is how often a leader commits offsets in a session; each time brokers confirm that it leads.
	announcements = 24
)

// Lead elects the leader of a role of several processes. The processes are a consumer group of control.v1, which has
// one partition: the member that has it leads. The leader commits processed offsets in that group, which brokers
// accept from its present generation only.
type Lead struct {
	role, instance string
	sharer         Sharer
	group          bus.GroupConfig
	// now is a clock that continues while the process is stopped.
	now func() time.Time
	log *slog.Logger

	mu sync.Mutex
	// changed is closed and replaced with every change of the following fields.
	changed chan struct{}
	// term counts how often this process has become the leader; leads means that it is.
	term  int64
	leads bool
	// prepared is the term for which it has read everything that a new leader must have read.
	prepared int64
	// generation is that of the last assignment, epoch the last epoch that this process has begun, and confirmed the time
	// of the last request in which brokers confirmed that it leads.
	generation int64
	epoch      int64
	confirmed  time.Time
	// processed are the processed offsets.
	processed map[bus.TopicPartition]int64
	// trouble is the last logged error.
	trouble string
	// writing cancels writes in progress, see write.
	writing   map[int]context.CancelFunc
	writes    int
	numbering numbering
}

// NewLead returns the election of a role for a data directory. The clock must be the sharer's, and must continue while
// the process is stopped, as time.Now does.
func NewLead(role, instance string, sharer Sharer, now func() time.Time, log *slog.Logger) *Lead {
	l := &Lead{
		role: role, instance: instance, sharer: sharer, now: now, log: log,
		changed: make(chan struct{}), processed: make(map[bus.TopicPartition]int64),
		writing: make(map[int]context.CancelFunc), numbering: numbering{turn: make(chan struct{}, 1)},
	}
	l.group = bus.GroupConfig{
		Name: role, Topic: bus.Control, CommitEvery: sharer.Session() / announcements, Rank: l.rank,
	}
	return l
}

// Run is a member of the group until the context ends, which is no error.
func (l *Lead) Run(ctx context.Context) error {
	err := l.sharer.Share(ctx, l.group, bus.Member{
		Assigned: l.assigned, Positions: l.positions, Committed: l.committed,
		Trouble: l.troubled,
	})
	return wire.UnlessStopped(ctx, err)
}

// troubled logs an error of the group, once until the next assignment.
func (l *Lead) troubled(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if text := err.Error(); text != l.trouble {
		l.trouble = text
		l.log.Warn(l.role+": the group that elects the leader is out of reach", "error", err)
	}
}

// rank prefers the present leader, and then the process that is ahead.
func (l *Lead) rank() bus.Rank {
	l.mu.Lock()
	defer l.mu.Unlock()
	var r bus.Rank
	if l.leads {
		r.Has = l.generation
	}
	for _, at := range l.processed {
		r.Far += max(0, at)
	}
	return r
}

// assigned processes an assignment. A leader that is assigned again continues if no other can have led in between.
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

// committed processes the confirmation of offsets of a generation.
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

// positions are the processed offsets. There is always one of control.v1, so that brokers confirm that the process
// leads.
func (l *Lead) positions() map[bus.TopicPartition]int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	out, control := maps.Clone(l.processed), bus.TopicPartition{Topic: bus.Control}
	out[control] = max(0, out[control])
	return out
}

// prepares reports whether this process has processed everything up to some offsets, and is prepared to lead in a term
// then.
func (l *Lead) prepares(term int64, with map[bus.TopicPartition]int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for tp, next := range with {
		if max(0, l.processed[tp]) < next {
			return false
		}
	}
	l.prepared = term
	return true
}

// passed reports whether a term of this process is over.
func (l *Lead) passed(term int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return term != 0 && (!l.leads || term != l.term)
}

// setProcessed sets processed offsets: all output for records before them is published.
func (l *Lead) setProcessed(positions map[bus.TopicPartition]int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.Copy(l.processed, positions)
}

// Term returns the term of this process as leader, or 0.
func (l *Lead) Term() int64 {
	term, _ := l.leading()
	return term
}

// Next returns the term for which to open a role that was open for another. A process that led becomes a standby first,
// because others may have led since; so does one that is not prepared to lead in the present term.
func (l *Lead) Next(before int64) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if before > 0 || !l.leads || l.term != l.prepared {
		return 0
	}
	return l.term
}

// leading returns the term of this process as leader, or 0, and a channel that is closed when it may have changed.
func (l *Lead) leading() (term int64, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.leads {
		term = l.term
	}
	return term, l.changed
}

// until waits until the term differs from another, and returns it. The term of a standby is 0.
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

// announced returns the offsets that leaders have committed.
func (l *Lead) announced(ctx context.Context, of []bus.TopicPartition) (map[bus.TopicPartition]int64, error) {
	return l.sharer.Positions(ctx, l.group, of)
}
