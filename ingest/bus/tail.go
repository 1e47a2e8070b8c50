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

// FromStart as a position means the start of the log at the time of reading.
const FromStart int64 = -2

// Batch holds records of one partition, in order.
type Batch struct {
	Source TopicPartition
	// Records are at most Config.MaxTailRecords. They may be empty if compaction removed
	// all: Next still advances. Records of one batch share memory; copy what is
	// retained.
	Records []ingest.Record
	// Next is the position to continue at once the batch has been processed.
	Next int64
	// End is the offset after the last record on the broker when the batch was read:
	// End-Next bounds the records still to come.
	End int64
	// Gap, if not nil, is an unreadable range that was skipped, up to Next. Records is
	// empty then.
	Gap *Gap
}

// Tail follows partitions from given positions, without end. It stores no offsets: the
// caller persists Batch.Next together with the changes of the batch, in one commit, so
// that after a crash every record counts once.
//
// Next and NextOf must be called from one goroutine; Close may be called from any.
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

// Gathering is the delay, by topic, before a Tail fetches again after it has read a
// partition to its end. Records accumulate meanwhile, so that callers commit fewer
// batches, and brokers serve fewer requests.
type Gathering map[Topic]time.Duration

// source is one followed partition. Its fields are guarded by Tail.mu.
type source struct {
	tp    TopicPartition
	ready []Batch
	taken chan struct{} // holds a token when a batch of ready was consumed
	// failed is final; trouble is reported once and may be temporary.
	failed, trouble error
}

// Tail starts following the partitions. A position is the offset of the first record
// wanted, or FromStart. It does not wait for the broker.
func (c *Client) Tail(positions map[TopicPartition]int64) (*Tail, error) {
	return c.TailGathering(positions, nil)
}

// TailGathering is Tail with a delay between fetches, see Gathering.
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

// Next returns the next batch; partitions take turns. It waits until there is one or the context
// ends.
//
// ErrPastEnd, ErrUnknownTopic and permanent rejections by brokers are final for their partition and
// are returned every time; the Tail of a patient client reports the first two to its Watch, and
// waits. After ErrInterrupted the Tail keeps retrying: report it and call Next again. After Close
// the error is ErrClosed.
func (t *Tail) Next(ctx context.Context) (Batch, error) {
	return t.next(ctx, func(Topic) bool { return true })
}

// NextOf is Next for some topics only. Batches of other topics stay buffered, and no more are
// fetched.
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

// Close stops following and waits until that is done. It may be called twice.
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

// signal puts a token in the channel unless there is one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// deliver passes batches to Next, and waits until earlier ones are consumed, so that at most one
// fetch is buffered. If the batches are larger than one fetch, because they were compressed or
// contain one large record, it waits for their consumption, too.
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

// bytesOf returns the approximate memory of batches.
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
