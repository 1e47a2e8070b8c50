package coordinator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/backups"
	"lethe/deletions/internal/memorykv"
	"lethe/deletions/search"
	"lethe/deletions/translog"
	"lethe/ingest"
	"lethe/ingest/authority"
	"lethe/ingest/bus"
	"lethe/metrics/events"
	"lethe/pipeline/wire"
)

// errCrash is what a call returns at which the process is to stop, or that is to
// fail once.
var errCrash = errors.New("crash")

var testSecret = lethe.Secret{1, 2, 3, 4}

// deployment is everything around a coordinator: what of it is durable outlives
// the coordinator. Every call that the coordinator makes is counted and told.
type deployment struct {
	testing.TB
	*Coordinator
	// waiting is the search that waits for verify, or nil.
	waiting  *search.Search
	kv       *memorykv.KV
	graphs   fakeGraphs
	bus      fakeBus
	notes    fakeNotes
	receipts fakeReceipts
	now      time.Time
	// setBack is the number of the call at which the clock is set back by hours.
	setBack int
	// ticking says that waiting takes time, hanging that the process hangs for long
	// after it looks at the clock next.
	ticking, hanging bool
	// told lists the calls since it was last read.
	told []string
	// calls counts them; call number failAt fails, with its effect or without.
	// failure is what it fails with.
	calls, failAt int
	effect        bool
	failure       error
	// noticed is how far control.v1 was delivered, passed up to where its barriers were.
	noticed, passed int
	// memo is shared by runs that send the same bytes.
	memo *memo
	// oneHop and window are settings.
	oneHop bool
	window time.Duration
	limits ingest.Limits
	// scope is that of requests that name none.
	scope lethe.Scope
	// restored is the note of the backup that was put back.
	restored backups.Restored
	// left, if not nil, is how much another role finds of what a command names.
	left func(c *wire.Command) int
	// between, if not nil, is called before a process begins.
	between func()
	// authority says what must be signed.
	authority authority.Policy
}

func deploy(t testing.TB) *deployment {
	d := &deployment{
		TB: t, failure: errCrash, memo: &memo{}, limits: ingest.DefaultLimits(), kv: memorykv.New(),
		scope: lethe.ScopeShard,
		now:   time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
	}
	d.graphs = newFakeGraphs(d)
	d.bus = fakeBus{d: d, topics: make(map[bus.Topic][]ingest.Record), ends: make(map[bus.Topic]int64)}
	d.receipts = fakeReceipts{d, make(map[string][]byte)}
	d.notes = fakeNotes{d: d, concluded: make(map[string]bool)}
	return d
}

// call runs what a call does, unless it is the one that is to fail.
func (d *deployment) call(do func() error, format string, args ...any) error {
	if d.calls++; d.calls == d.setBack {
		d.now = d.now.Add(-3 * time.Hour)
	}
	fails := d.calls == d.failAt
	if fails && !d.effect {
		return d.failure
	}
	if err := do(); err != nil {
		return err
	}
	if format != "" {
		d.told = append(d.told, fmt.Sprintf(format, args...))
	}
	if fails {
		return errCrash
	}
	return nil
}

// boot makes a new coordinator over what is durable, and delivers again what a
// new process reads again.
func (d *deployment) boot() error {
	// Messages of an earlier process that nobody dealt with are delivered again.
	d.noticed, d.waiting = 0, nil
	signer, err := translog.NewSigner("test", testKey)
	require.NoError(d, err)
	log := translog.NewLog(countedKV{d}, signer)
	ledger := deletions.NewLedger(countedKV{d}, func() time.Time { return d.now })
	entries, err := ledger.List()
	require.NoError(d, err)
	if err := log.Start(d.Context(), published{d.bus}, nil, deletions.Changes{Entries: entries}); err != nil {
		return err
	}
	ledger.Keep(log)
	d.Coordinator = New(Options{
		Config: Config{
			Secret: testSecret, SigningKey: testKey, KernelSet: "none", Deployment: testSecret.Deployment(""),
			Version: "test", VerifyTimeout: 10 * time.Second, OneHop: d.oneHop,
			BatchWindow: d.window, Authority: d.authority,
			Limits: d.limits, DefaultScope: d.scope,
		},
		Ledger: ledger, Log: log, Restored: d.restored,
		Graphs: d.graphs, Notes: &d.notes, Receipts: d.receipts, Bus: d.bus, Clock: fakeClock{d},
		Listener: events.Tee(), Logger: slog.New(slog.DiscardHandler),
	})
	if err := d.Resume(d.Context()); err != nil {
		return err
	}
	return d.deliver()
}

// deliver hands over what is new in the topics.
func (d *deployment) deliver() error {
	notices := d.bus.topics[bus.Control]
	fresh := notices[d.noticed:]
	d.noticed = len(notices)
	parsed := make([]wire.Notice, len(fresh))
	reader := wire.NewNoticeReader()
	for i, rec := range fresh {
		var err error
		if parsed[i], err = d.memo.notice(reader, rec); err != nil {
			return err
		}
	}
	if err := d.TakeNotices(parsed); err != nil {
		return err
	}
	source := bus.TopicPartition{Topic: bus.Erasures}
	if next := d.bus.ends[bus.Erasures]; d.notes.read < next {
		from := max(d.notes.read, d.notes.next)
		batch := bus.Batch{Source: source, Next: next, End: next}
		for _, rec := range d.bus.topics[bus.Erasures] {
			if rec.Offset >= from {
				batch.Records = append(batch.Records, rec)
			}
		}
		d.notes.read = next
		return d.Requests.Take(d.Context(), batch)
	}
	return nil
}

// submit publishes a request.
func (d *deployment) submit(r lethe.ErasureRequest) {
	key, value, err := ingest.EncodeErasure(r, time.Time{})
	require.NoError(d, err)
	d.bus.append(bus.Erasures, ingest.Outgoing{Key: key, Value: value})
}

// answer publishes the acknowledgement of another role.
func (d *deployment) answer(a deletions.Ack) {
	value, err := a.Encode()
	require.NoError(d, err)
	d.bus.append(bus.Control, ingest.Outgoing{Key: []byte(a.Key()), Value: value})
}

// advance advances, and looks for records that are to be withdrawn as soon as that is
// due. A search that verifies waits for verify.
func (d *deployment) advance() error {
	for {
		if err := d.Advance(d.Context()); err != nil {
			return err
		}
		s := d.Verification.Next()
		if s == nil && d.barrier() {
			continue
		}
		if s == nil {
			return nil
		}
		if !s.Locates {
			d.waiting = s
			return nil
		}
		if err := d.run(s); err != nil {
			return err
		}
	}
}

// barrier hands over the barrier that was written last, once, and before it what stands there of
// members.
func (d *deployment) barrier() bool {
	var before []wire.Notice
	for i, rec := range d.bus.topics[bus.Control] {
		n, err := wire.ParseNotice(rec)
		require.NoError(d, err)
		switch {
		case n.Member != nil:
			before = append(before, n)
		case n.Barrier != nil && i >= d.passed:
			d.passed = i + 1
			require.NoError(d, d.TakeNotices(append(before, n)))
			return true
		}
	}
	return false
}

// verify runs the search that is due, if there is one.
func (d *deployment) verify() error {
	s := d.waiting
	if d.waiting = nil; s == nil {
		return nil
	}
	return d.run(s)
}

// run runs a search.
func (d *deployment) run(s *search.Search) error {
	v := search.Searcher{
		Bus: d.bus, Places: []search.Place{{Name: "graphs", Search: d.graphs.search}}, Clock: fakeClock{d},
		Compact: func() error { return d.call(d.bus.compact, "compact") },
	}.Run(d.Context(), s)
	if errors.Is(v.Err, errCrash) && d.effect {
		// The process stopped in the middle of it.
		return v.Err
	}
	return d.Verification.Conclude(d.Context(), v)
}

// countedKV counts the writes of the ledger.
type countedKV struct{ d *deployment }

func (kv countedKV) Scan(prefix []byte, fn func(key, value []byte) error) error {
	return kv.d.kv.Scan(prefix, fn)
}

func (kv countedKV) Put(rows ...deletions.Row) error {
	var told []string
	for _, row := range rows {
		if name, isHold := strings.CutPrefix(string(row.Key), "hold/"); isHold {
			told = append(told, "hold "+name)
			continue
		}
		if strings.HasPrefix(string(row.Key), "log/") {
			continue
		}
		e, err := deletions.DecodeEntry(row.Value)
		require.NoError(kv.d, err)
		told = append(told, fmt.Sprintf("%s: %s", e.RequestID, e.State))
	}
	if len(told) == 0 {
		return kv.d.call(func() error { return kv.d.kv.Put(rows...) }, "")
	}
	return kv.d.call(func() error { return kv.d.kv.Put(rows...) }, "ledger %s", strings.Join(told, ", "))
}

type fakeClock struct{ d *deployment }

func (c fakeClock) Now() time.Time {
	now := c.d.now
	if c.d.hanging {
		c.d.hanging, c.d.now = false, now.Add(time.Hour)
	}
	return now
}

func (c fakeClock) Sleep(_ context.Context, pause time.Duration) error {
	return c.d.call(func() error {
		if c.d.ticking {
			c.d.now = c.d.now.Add(pause)
		}
		return nil
	}, "wait %v", pause)
}
