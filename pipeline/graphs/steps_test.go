package graphs

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/deletions"
	"lethe/deletions/backups"
	"lethe/deletions/coordinator"
	"lethe/deletions/search"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/metrics/events"
	"lethe/partition"
	"lethe/partition/repair"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

// errKilled ends a process of a simulation.
var errKilled = errors.New("killed")

// simulation is the role step by step, with everything in memory: no file, no
// goroutine, no clock.
type simulation struct {
	*deployment
	logic    *logic
	searches *atOnce
	tail     role.Tail
	disk     *vfs.MemFS
	ledger   *roletest.Store
	receipts map[string][]byte
	now      time.Time
	// steps counts those that publish; number killAt is the last one of its
	// process, whether its messages are delivered or not.
	steps, killAt int
	delivered     bool
	// sent are the messages that left, but for what is said of the erasure.
	sent map[string]bool
}

// Now and Sleep implement search.Clock.
func (s *simulation) Now() time.Time { return s.now }

func (s *simulation) Sleep(_ context.Context, d time.Duration) error {
	s.now = s.now.Add(d)
	return nil
}

// Has and Keep implement coordinator.Receipts.
func (s *simulation) Has(requestID string) (bool, error) { return s.receipts[requestID] != nil, nil }

func (s *simulation) Keep(signed map[string][]byte) error {
	maps.Copy(s.receipts, signed)
	return nil
}

// ledgerKV is a ledger in memory.
type ledgerKV struct{ *roletest.Store }

func (l ledgerKV) Put(rows ...deletions.Row) error {
	return l.Apply(func(w swapstore.Writer) error {
		for _, row := range rows {
			w.Set(row.Key, row.Value)
		}
		return nil
	})
}

// atOnce runs a search as part of the step that begins it.
type atOnce struct {
	search.Searcher
	verdicts []search.Verdict
}

func (a *atOnce) Begin(ctx context.Context, s *search.Search) {
	a.verdicts = append(a.verdicts, a.Run(ctx, s))
}

func (a *atOnce) Verdict() (v search.Verdict, ended bool) {
	if len(a.verdicts) == 0 {
		return v, false
	}
	v, a.verdicts = a.verdicts[0], a.verdicts[1:]
	return v, true
}

func (*atOnce) Wake(time.Duration) {}

func (*atOnce) Wait() {}

// start begins a process over what the last one left.
func (s *simulation) start() {
	cut := partition.Defaults()
	cut.Shards = shards
	o := Options{
		FS:        s.disk,
		Partition: cut, Repair: repair.Defaults(), Limits: ingest.DefaultLimits(), Secret: secret, Version: "test",
		Erasure: coordinator.Config{
			Deployment: lethe.DeploymentID{1},
			SigningKey: ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), KernelSet: "none", VerifyTimeout: time.Minute,
			DefaultScope: lethe.ScopeStubs,
		},
		Bus: s.topics, Clock: s, Listener: events.Tee(), Logger: slog.New(slog.DiscardHandler),
	}.agreed()
	labels, err := s.topics.Partitions(s.Context(), bus.Labels)
	require.NoError(s, err)
	store, err := snapshot.Open(snapshotsDir(o), snapshot.Options{
		Config: snapshot.Defaults(), Secret: secret, FS: s.disk, TransactionPartitions: 2, LabelPartitions: labels,
	})
	require.NoError(s, err)
	ledger := deletions.NewLedger(ledgerKV{s.ledger}, s.Now)
	log, err := startLog(s.Context(), o, ledgerKV{s.ledger}, ledger)
	require.NoError(s, err)
	decided, err := readDecided(s.Context(), o)
	require.NoError(s, err)
	kept := stores{
		graphs: store, ledger: ledger, log: log, backups: backups.In(ledgerKV{s.ledger}), ledgerStore: io.NopCloser(nil),
		receipts: s, decided: decided,
	}
	searcher := search.Searcher{Bus: s.topics, Clock: s, Compact: s.topics.Compact}
	s.searches = &atOnce{Searcher: searcher}
	s.logic = newLogic(o, kept, s.searches)

	positions := map[bus.TopicPartition]int64{{Topic: bus.Control}: 0}
	for _, topic := range s.logic.Topics() {
		n, err := s.topics.Partitions(s.Context(), topic)
		require.NoError(s, err)
		for p := range n {
			source := bus.TopicPartition{Topic: topic, Partition: p}
			positions[source], err = s.logic.Resume(source, n)
			require.NoError(s, err)
		}
	}
	s.tail, err = s.topics.Follow(positions)
	require.NoError(s, err)
}

// step runs the logic until the role is idle, or killed.
func (s *simulation) step(in role.Input) error {
	return s.deliver(func() (role.Output, error) {
		this := in
		in = role.Input{}
		return s.logic.Step(s.Context(), s.Now, this)
	})
}

// deliver passes on what steps say, until one is idle and no search has ended: that would wake the role.
func (s *simulation) deliver(step func() (role.Output, error)) error {
	for {
		out, err := step()
		require.NoError(s, err)
		if len(out.Messages)+len(out.Records) > 0 {
			s.steps++
			if s.steps == s.killAt && !s.delivered {
				return errKilled
			}
			s.note(out)
			if len(out.Messages) > 0 {
				n, err := s.topics.Partitions(s.Context(), wire.TopicOf(out.Messages[0].Key.Kind))
				require.NoError(s, err)
				require.NoError(s, wire.Publish(s.Context(), s.topics, n, out.Messages...))
			}
			require.NoError(s, s.topics.Write(s.Context(), out.Topic, out.Records))
			if s.steps == s.killAt {
				return errKilled
			}
		}
		if out.Note != nil {
			require.NoError(s, out.Note())
		}
		if out.Idle && len(s.searches.verdicts) == 0 {
			return nil
		}
	}
}

// note remembers what an output says.
func (s *simulation) note(out role.Output) {
	for _, m := range out.Messages {
		s.sent[fmt.Sprintf("%s revision %d: %s", m.Key, m.Revision, canonical.DigestOf(m.Payload))] = true
	}
	if !slices.Contains([]bus.Topic{bus.Control, bus.ErasureStatus, bus.Receipts}, out.Topic) {
		for _, rec := range out.Records {
			if rec.Key[0] == '!' || rec.Value == nil && !s.holds(out.Topic, rec.Key) {
				continue // a marker, or a deletion of what is not there, says nothing
			}
			if out.Topic == bus.Log &&
				(string(rec.Key) == "checkpoint" || strings.Contains(string(rec.Value), "payload_digest")) {
				continue // the log's checkpoint is signed as often as it is written, and a receipt names times
			}
			s.sent[fmt.Sprintf("%s %s: %s", out.Topic, rec.Key, rec.Value)] = true
		}
	}
}

// holds reports whether a topic has a record under a key.
func (s *simulation) holds(topic bus.Topic, key []byte) (found bool) {
	for _, rec := range roletest.Records(s, s.topics, topic) {
		found = found || rec.Value != nil && string(rec.Key) == string(key)
	}
	return found
}

// turn passes on everything that has arrived, then a tick.
func (s *simulation) turn() error {
	over, cancel := context.WithCancel(s.Context())
	cancel()
	in := role.Input{}
	for {
		if err := s.step(in); err != nil {
			return err
		}
		batch, err := s.tail.Next(over)
		if err != nil {
			s.now = s.now.Add(time.Second)
			return s.step(role.Input{Ticked: true})
		}
		in = role.Input{Batch: batch}
		if batch.Source.Topic == bus.Control {
			for _, rec := range batch.Records {
				n, err := wire.ParseNotice(rec)
				require.NoError(s, err)
				in.Notices = append(in.Notices, n)
			}
		}
	}
}
