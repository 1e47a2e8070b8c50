package coordinator

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/internal/memorykv"
	"lethe/ingest"
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
	kv       *memorykv.KV
	graphs   fakeGraphs
	bus      fakeBus
	notes    fakeNotes
	receipts fakeReceipts
	now      time.Time
	// ticking says that waiting takes time.
	ticking bool
	// told lists the calls since it was last read.
	told []string
	// calls counts them; call number failAt fails, with its effect or without.
	calls, failAt int
	effect        bool
	// noticed is how far erasure-status.v1 was delivered.
	noticed int
	// oneHop is the setting.
	oneHop bool
}

func deploy(t testing.TB) *deployment {
	d := &deployment{
		TB: t, kv: memorykv.New(), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
	}
	d.graphs = newFakeGraphs(d)
	d.bus = fakeBus{d: d, topics: make(map[bus.Topic][]ingest.Record), ends: make(map[bus.Topic]int64)}
	d.receipts = fakeReceipts{d, make(map[string][]byte)}
	d.notes = fakeNotes{d: d, concluded: make(map[string]bool)}
	return d
}

// call runs what a call does, unless it is the one that is to fail.
func (d *deployment) call(do func() error, format string, args ...any) error {
	d.calls++
	fails := d.calls == d.failAt
	if fails && !d.effect {
		return errCrash
	}
	if err := do(); err != nil {
		return err
	}
	d.told = append(d.told, fmt.Sprintf(format, args...))
	if fails {
		return errCrash
	}
	return nil
}

// boot makes a new coordinator over what is durable, and delivers again what a
// new process reads again.
func (d *deployment) boot() error {
	// Messages of an earlier process that nobody dealt with are delivered again.
	d.noticed = 0
	d.Coordinator = New(Options{
		Config: Config{
			Secret: testSecret, SigningKey: ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), KernelSet: "none",
			Version: "test", VerifyTimeout: 10 * time.Second, OneHop: d.oneHop,
			Limits: ingest.DefaultLimits(), DefaultScope: lethe.ScopeShard,
		},
		Ledger: deletions.NewLedger(countedKV{d}, func() time.Time { return d.now }),
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
	notices := d.bus.topics[bus.ErasureStatus]
	fresh := notices[d.noticed:]
	d.noticed = len(notices)
	parsed := make([]wire.Notice, len(fresh))
	for i, rec := range fresh {
		var err error
		if parsed[i], err = wire.ParseNotice(rec); err != nil {
			return err
		}
	}
	d.TakeNotices(parsed)
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
	d.bus.append(bus.ErasureStatus, ingest.Outgoing{Key: []byte(a.Key()), Value: value})
}

// verify runs the search that is due, if there is one.
func (d *deployment) verify() error {
	s := d.Verification.Next()
	if s == nil {
		return nil
	}
	v := Searcher{
		Bus: d.bus, Places: []Place{{"graphs", d.graphs.search}}, Clock: fakeClock{d},
		Compact: func() error { return d.call(d.bus.compact, "compact") },
	}.Run(d.Context(), s)
	if errors.Is(v.err, errCrash) && d.effect {
		// The process stopped in the middle of it.
		return v.err
	}
	return d.Verification.Conclude(d.Context(), v)
}

// countedKV counts the writes of the ledger.
type countedKV struct{ d *deployment }

func (kv countedKV) Get(key []byte) ([]byte, bool, error) { return kv.d.kv.Get(key) }

func (kv countedKV) Scan(prefix []byte, fn func(key, value []byte) error) error {
	return kv.d.kv.Scan(prefix, fn)
}

func (kv countedKV) Put(key, value []byte) error {
	e, err := deletions.DecodeEntry(value)
	require.NoError(kv.d, err)
	return kv.d.call(func() error { return kv.d.kv.Put(key, value) }, "ledger %s: %s",
		strings.TrimPrefix(string(key), "erasure/"), e.State)
}

type fakeClock struct{ d *deployment }

func (c fakeClock) Now() time.Time { return c.d.now }

func (c fakeClock) Sleep(_ context.Context, pause time.Duration) error {
	return c.d.call(func() error {
		if c.d.ticking {
			c.d.now = c.d.now.Add(pause)
		}
		return nil
	}, "wait %v", pause)
}

type fakeNotes struct {
	d         *deployment
	next      int64
	concluded map[string]bool
	// read is how far the present process has been handed erasures.v1.
	read int64
}

func (n *fakeNotes) Commit(_ bus.TopicPartition, next int64) error {
	return n.d.call(func() error { n.next = next; return nil }, "commit up to %d", next)
}

func (n *fakeNotes) Concluded(requestID string) (bool, error) { return n.concluded[requestID], nil }

func (n *fakeNotes) Conclude(requestID string) error {
	return n.d.call(func() error { n.concluded[requestID] = true; return nil }, "note that %s is concluded", requestID)
}

type fakeReceipts struct {
	d    *deployment
	kept map[string][]byte
}

func (r fakeReceipts) Has(requestID string) (bool, error) { return r.kept[requestID] != nil, nil }

func (r fakeReceipts) Keep(requestID string, signed []byte) error {
	return r.d.call(func() error { r.kept[requestID] = signed; return nil }, "keep receipt of %s", requestID)
}
