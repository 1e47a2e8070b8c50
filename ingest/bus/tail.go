package bus

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"lethe/ingest"
)

// FromStart as a position means the start of the log, wherever it is now.
const FromStart int64 = -2

// Batch holds records of one partition, in order.
type Batch struct {
	Source TopicPartition
	// Records are at most Config.MaxTailRecords. There may be none, when
	// compaction left nothing: Next still moves on. Records of one batch share
	// memory; copy what is kept.
	Records []ingest.Record
	// Next is the position to go on from once the batch is dealt with.
	Next int64
	// End is the position after the last record the broker had when the batch
	// was read: End-Next bounds the records still to come.
	End int64
	// Gap, if not nil, is what was stepped over because it cannot be read, up to
	// Next. There are no records then.
	Gap *Gap
}

// Tail follows partitions from given positions, without end. It keeps no offsets:
// the caller stores Batch.Next together with what the batch changed, in one
// step, so that after a crash every record counts once.
//
// Next and NextOf are for one goroutine; Close for any.
type Tail struct {
	client *Client // of its own
	cancel context.CancelFunc
	done   sync.WaitGroup
	gather Gathering

	mu      sync.Mutex
	wake    chan struct{} // holds a token when something changed
	sources []*source
	last    int // index of the source served last
	closed  bool
}

// Gathering is for how long a Tail lets records of a topic gather: once it has read all
// that a partition holds, it asks for more after that time. Whoever stores something for
// every batch does so less often then, and brokers answer fewer requests.
type Gathering map[Topic]time.Duration

// source is one partition being followed. Its fields are guarded by Tail.mu.
type source struct {
	tp    TopicPartition
	ready []Batch
	taken chan struct{} // holds a token when something was taken of ready
	// failed is final; trouble is told once and may pass.
	failed, trouble error
}

// Tail starts following the partitions. A position is the offset of the first
// record wanted, or FromStart. It does not wait for the broker.
func (c *Client) Tail(positions map[TopicPartition]int64) (*Tail, error) {
	return c.TailGathering(positions, nil)
}

// TailGathering is Tail that lets records gather.
func (c *Client) TailGathering(positions map[TopicPartition]int64, gather Gathering) (*Tail, error) {
	keys := slices.Collect(maps.Keys(positions))
	slices.SortFunc(keys, func(a, b TopicPartition) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	for _, tp := range keys {
		if p := positions[tp]; p < 0 && p != FromStart {
			return nil, fmt.Errorf("position of %s is %d, want at least 0 or FromStart", tp, p)
		}
	}
	own, err := OpenPatient(c.cfg, c.watch)
	if err != nil {
		return nil, err
	}
	c.seal.Load().On(own)
	ctx, cancel := context.WithCancel(context.Background())
	t := &Tail{client: own, cancel: cancel, wake: make(chan struct{}, 1), gather: maps.Clone(gather)}
	for _, tp := range keys {
		s := &source{tp: tp, taken: make(chan struct{}, 1)}
		t.sources = append(t.sources, s)
		position := positions[tp] // the caller may change the map later
		t.done.Go(func() { t.follow(ctx, s, position) })
	}
	return t, nil
}

// Next returns the next batch; partitions take turns. It waits until there is one or the context ends.
//
// ErrPastEnd, ErrUnknownTopic and what brokers refuse for good are final for their
// partition and are returned every time; the Tail of a patient client tells its Watch of the first
// two, and waits. After ErrInterrupted the Tail goes on trying: report it and call Next again.
// After Close the error is ErrClosed.
func (t *Tail) Next(ctx context.Context) (Batch, error) {
	return t.next(ctx, func(Topic) bool { return true })
}

// NextOf is Next of some topics alone. Of others what was read waits, and brokers are asked for no more.
func (t *Tail) NextOf(ctx context.Context, topics map[Topic]bool) (Batch, error) {
	return t.next(ctx, func(topic Topic) bool { return topics[topic] })
}

func (t *Tail) next(ctx context.Context, wanted func(Topic) bool) (Batch, error) {
	for {
		batch, ok, err := t.poll(wanted)
		if ok || err != nil {
			return batch, err
		}
		select {
		case <-t.wake:
		case <-ctx.Done():
			return Batch{}, ctx.Err()
		}
	}
}

func (t *Tail) poll(wanted func(Topic) bool) (Batch, bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return Batch{}, false, ErrClosed
	}
	for _, s := range t.sources {
		if s.failed != nil {
			return Batch{}, false, s.failed
		}
		if err := s.trouble; err != nil {
			s.trouble = nil
			return Batch{}, false, err
		}
	}
	for i := range t.sources {
		at := (t.last + 1 + i) % len(t.sources)
		s := t.sources[at]
		if len(s.ready) == 0 || !wanted(s.tp.Topic) {
			continue
		}
		t.last = at
		batch := s.ready[0]
		s.ready[0] = Batch{}
		s.ready = s.ready[1:]
		signal(s.taken)
		return batch, true, nil
	}
	return Batch{}, false, nil
}

// Close stops following and waits until that is done. Closing twice is fine.
func (t *Tail) Close() error {
	t.mu.Lock()
	t.closed = true
	signal(t.wake)
	t.mu.Unlock()
	t.cancel()
	err := t.client.Close()
	t.done.Wait()
	return err
}

// signal leaves a token unless one is there.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// deliver hands batches to Next, and waits until those before them are taken, so that one fetch is ahead of Next. If
// they have more than a fetch asks for, being compressed or one that is larger, it waits for them, too.
func (t *Tail) deliver(ctx context.Context, s *source, batches []Batch) error {
	mayWait := len(batches)
	if bytesOf(batches) > t.client.cfg.MaxFetchBytes {
		mayWait = 0
	}
	t.mu.Lock()
	s.ready = append(s.ready, batches...)
	signal(t.wake)
	for len(s.ready) > mayWait {
		t.mu.Unlock()
		select {
		case <-s.taken:
		case <-ctx.Done():
			return ctx.Err()
		}
		t.mu.Lock()
	}
	t.mu.Unlock()
	return nil
}

// bytesOf returns about what batches take in memory.
func bytesOf(batches []Batch) (n int) {
	for _, b := range batches {
		for _, rec := range b.Records {
			n += len(rec.Key) + len(rec.Value)
		}
	}
	return n
}

// report lets Next return an error.
func (t *Tail) report(s *source, err error, final bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if final {
		s.failed = err
	} else {
		s.trouble = err
	}
	signal(t.wake)
}
