package graphs

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions/coordinator"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/leakcheck"
	"lethe/partition"
	"lethe/partition/repair"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

const shards = 3

var secret = lethe.Secret{3}

// deployment is the role's surroundings: topics in memory, two partitions of
// transactions and one of labels.
type deployment struct {
	testing.TB
	topics *roletest.Bus
	// features is the number that is configured: one timestep of fill is too small to tell.
	features int
	// questions are answered by the role, if there are any.
	questions *Questions
	// leaveOut is a transaction that fill leaves out with all that names it, or empty.
	leaveOut lethe.TransactionID
	// window is that in which late records wait for others, or 0 for the default.
	window time.Duration
	// encoding is how fill writes transactions, payments and close records.
	encoding ingest.Encoding
	// workers is how many goroutines decode.
	workers int
	// lateRecords is what becomes of late records, or empty for the default.
	lateRecords string
	// reopensNone says that what comes after its timestep has closed is refused.
	reopensNone bool
	// mostOpen bounds the timesteps that are open, or is 0 for the default.
	mostOpen int
	// mostWaiting bounds the payments that wait for transactions, or is 0 for the default.
	mostWaiting int
}

func deploy(t testing.TB) *deployment {
	partitions := map[bus.Topic]int{bus.Transactions: 2, bus.Slices: 2, bus.Models: 2}
	return &deployment{TB: t, topics: roletest.NewBus(partitions), features: 3}
}

// noSleep is a clock whose Sleep returns at once.
type noSleep struct{ coordinator.WallClock }

// Sleep implements search.Clock.
func (noSleep) Sleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// run starts the role on a folder; stop ends it and checks that it ended well.
func (d *deployment) run(dir string) (r *role.Follower, stop func()) {
	d.Helper()
	r, err := New(d.Context(), d.options(dir))
	require.NoError(d, err)
	return r, d.start(r)
}

// options are those of the role on a folder.
func (d *deployment) options(dir string) Options {
	d.Helper()
	cut := partition.Defaults()
	cut.Shards = shards
	graphs := snapshot.Defaults()
	graphs.FeatureCount, graphs.ReopenWindow = d.features, cmp.Or(d.window, graphs.ReopenWindow)
	graphs.MaxOpenTimesteps = cmp.Or(d.mostOpen, graphs.MaxOpenTimesteps)
	graphs.MaxWaiting = cmp.Or(d.mostWaiting, graphs.MaxWaiting)
	graphs.Late = cmp.Or(d.lateRecords, graphs.Late)
	if d.reopensNone {
		graphs.ReopenTimesteps = 0
	}
	return Options{
		FS: vfs.Default, Dir: dir, ReceiptsDir: d.TempDir(), Snapshot: graphs, Limits: ingest.DefaultLimits(),
		Secret: secret, Bus: d.topics, Clock: noSleep{}, Beside: inGoroutine, Version: "test", Compact: d.topics.Compact,
		Logger:    slog.New(slog.DiscardHandler),
		Partition: cut, Repair: repair.Defaults(), Questions: d.questions, Workers: d.workers,
		Erasure: coordinator.Config{
			Deployment: lethe.DeploymentID{1},
			SigningKey: ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), KernelSet: "none",
			VerifyTimeout: 5 * time.Minute, DefaultScope: lethe.ScopeStubs,
		},
	}
}

// start runs a role; stop ends it and checks that it ended well.
func (d *deployment) start(r role.Role) (stop func()) {
	d.Helper()
	ctx, cancel := context.WithCancel(d.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(d, <-ended)
		require.NoError(d, r.Close())
	})
	d.Cleanup(stop)
	return stop
}

func inGoroutine(search func()) { go search() }

// until waits for a status.
func (d *deployment) until(r role.Role, what string, holds func(*role.Status) bool) {
	d.Helper()
	require.Eventually(d, func() bool { return holds(r.Status()) }, 30*time.Second, 5*time.Millisecond, what)
}

// send publishes records.
func (d *deployment) send(topic bus.Topic, records ...ingest.Outgoing) {
	d.Helper()
	require.NoError(d, d.topics.Write(d.Context(), topic, records))
}

// put publishes a record as the encoders give it.
func (d *deployment) put(topic bus.Topic) func(key, value []byte, err error) {
	return func(key, value []byte, err error) {
		d.Helper()
		require.NoError(d, err)
		d.send(topic, ingest.Outgoing{Key: key, Value: value})
	}
}

// arrives publishes a transaction.
func (d *deployment) arrives(at lethe.Timestep, id lethe.TransactionID, features ...float32) {
	d.Helper()
	d.put(bus.Transactions)(d.encoding.Transaction(lethe.Transaction{ID: id, Timestep: at, Features: features}))
}

// settled publishes a timestep and waits until it is settled.
func (d *deployment) settled(r role.Role, at lethe.Timestep) {
	d.Helper()
	d.fill(at)
	d.settle(at)
	d.until(r, "the timestep settles", func(s *role.Status) bool { return s.Count(lethe.Settled) == int(at) })
}

// controls are a close or settle record for every partition of a topic.
func (d *deployment) controls(
	topic bus.Topic, at lethe.Timestep, encode func(lethe.Timestep, int) (key, value []byte),
) (out []ingest.Outgoing) {
	d.Helper()
	n, err := d.topics.Partitions(d.Context(), topic)
	require.NoError(d, err)
	for p := range n {
		key, value := encode(at, p)
		out = append(out, ingest.Outgoing{Key: key, Value: value, Pinned: true, Partition: p})
	}
	return out
}

func transactionID(at lethe.Timestep, i int) lethe.TransactionID {
	return lethe.TransactionID(fmt.Sprintf("transaction-%d-%d", at, i))
}

// fill publishes a timestep of seven transactions in a ring with a chord; every
// third is illicit, every third unlabelled.
func (d *deployment) fill(at lethe.Timestep) {
	d.Helper()
	const nodes = 7
	var records []ingest.Outgoing
	add := func(key, value []byte, err error) {
		require.NoError(d, err)
		records = append(records, ingest.Outgoing{Key: key, Value: value})
	}
	pay := func(source, target int) {
		if slices.Contains([]lethe.TransactionID{transactionID(at, source), transactionID(at, target)}, d.leaveOut) {
			return
		}
		add(d.encoding.Payment(lethe.Payment{
			Source: transactionID(at, source), Target: transactionID(at, target), Timestep: at,
		}))
	}
	for i := range nodes {
		if transactionID(at, i) != d.leaveOut {
			add(d.encoding.Transaction(lethe.Transaction{
				ID: transactionID(at, i), Timestep: at, Features: []float32{float32(i), float32(at), 0.5},
			}))
		}
		pay(i, (i+1)%nodes)
	}
	pay(0, 3)
	d.send(bus.Transactions, append(records, d.controls(bus.Transactions, at, d.encoding.Close)...)...)
	records = nil
	for i := range nodes {
		if label := lethe.Label(i % lethe.NumLabels); label != lethe.Unknown && transactionID(at, i) != d.leaveOut {
			add(ingest.EncodeLabel(lethe.LabelRecord{ID: transactionID(at, i), Timestep: at, Label: label}))
		}
	}
	d.send(bus.Labels, records...)
}

func (d *deployment) settle(at lethe.Timestep) {
	d.send(bus.Labels, d.controls(bus.Labels, at, ingest.EncodeSettle)...)
}

// published reads every message of the topics, in order, and counts them.
func (d *deployment) published(topics ...bus.Topic) (newest map[wire.Key]wire.Message, count int) {
	d.Helper()
	newest = make(map[wire.Key]wire.Message)
	for _, topic := range topics {
		for _, m := range roletest.Messages(d, d.topics, topic) {
			count++
			if m.Deleted {
				delete(newest, m.Key)
				continue
			}
			newest[m.Key] = m.Message
		}
	}
	return newest, count
}
