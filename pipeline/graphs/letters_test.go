package graphs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/canonical"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/ingest/ingesttest"
	"lethe/internal/realdata"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/snapshot"
)

// Dead letters carry the snapshot store's reasons, which has no list of them, as they are.
func TestReasonsOfTheStoreAreKnown(t *testing.T) {
	path := filepath.Join(realdata.Repository(t), "snapshot", "record.go")
	parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	var found []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		constant, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(constant.Names[0].Name, "Reason") {
			return true
		}
		require.Len(t, constant.Values, 1, constant.Names[0].Name)
		reason, err := strconv.Unquote(constant.Values[0].(*ast.BasicLit).Value)
		require.NoError(t, err)
		require.True(t, ingest.Reason(reason).Known(), "%s is %q", constant.Names[0].Name, reason)
		found = append(found, reason)
		return false
	})
	require.Contains(t, found, snapshot.ReasonUnknownTransaction)
	require.Len(t, found, 10)
}

// A payment and a label that wait for a transaction are taken once it has come, and their
// letters withdrawn. Those of records with the same keys that were refused for good stay.
func TestAWithdrawnLetterLeavesThoseRefusedForGood(t *testing.T) {
	d := deploy(t)
	d.window = time.Millisecond
	r, _ := d.run(t.TempDir())
	known, late := transactionID(1, 0), lethe.TransactionID("late")
	payment, label := string(ingest.PaymentKey(known, late)), string(late)
	send := func(topic bus.Topic, key, value []byte, err error) {
		require.NoError(t, err)
		d.send(topic, ingest.Outgoing{Key: key, Value: value})
	}
	sendAt := func(at lethe.Timestep) {
		key, value, err := ingest.EncodePayment(lethe.Payment{Source: known, Target: late, Timestep: at})
		send(bus.Transactions, key, value, err)
		key, value, err = ingest.EncodeLabel(lethe.LabelRecord{ID: late, Timestep: at, Label: lethe.Illicit})
		send(bus.Labels, key, value, err)
	}
	const tooFar = 1 << 20
	sendAt(tooFar)
	sendAt(1)
	d.settled(r, 1)
	require.Equal(t, map[string][]string{
		payment: {"timestep_jump", "unknown_endpoint"}, label: {"timestep_jump", "unknown_transaction"},
	}, d.letterReasons())

	key, value, err := ingest.EncodeTransaction(lethe.Transaction{ID: late, Timestep: 1, Features: []float32{1, 2, 3}})
	send(bus.Transactions, key, value, err)
	d.until(r, "it joins", func(s *role.Status) bool { return s.Transactions() == 8 && s.Steps[1].State == lethe.Settled })
	require.Equal(t, map[string][]string{payment: {"timestep_jump"}, label: {"timestep_jump"}}, d.letterReasons())
}

// letterReasons are the reasons of the dead letters that compaction leaves, by the key of
// the record that was refused.
func (d *deployment) letterReasons() map[string][]string {
	d.Helper()
	newest := make(map[string]ingest.Record)
	for _, rec := range roletest.Records(d, d.topics, bus.DeadLetters) {
		if _, _, is := ingest.ReadMark(rec); !is {
			newest[string(rec.Key)] = rec
		}
	}
	out := make(map[string][]string)
	for _, key := range slices.Sorted(maps.Keys(newest)) {
		if newest[key].Tombstone() {
			continue
		}
		letter, err := ingesttest.ParseDeadLetter(newest[key])
		require.NoError(d, err)
		original := string(letter.Record.Key)
		out[original] = append(out[original], string(letter.Refusal.Reason))
	}
	for _, reasons := range out {
		slices.Sort(reasons)
	}
	return out
}

// twoPartitioners are the records of a timestep, and of each a second one under its key in the other partition, as a
// producer with another partitioner sends it: another label, other features, other subjects.
func twoPartitioners(d *deployment) map[bus.TopicPartition][]ingest.Outgoing {
	const nodes, partitions = 12, 2
	logs := make(map[bus.TopicPartition][]ingest.Outgoing)
	add := func(topic bus.Topic, home int, key, value []byte, err error) {
		require.NoError(d, err)
		at := bus.TopicPartition{Topic: topic, Partition: (bus.PartitionOf(key, partitions) + home) % partitions}
		logs[at] = append(logs[at], ingest.Outgoing{Key: key, Value: value, Pinned: true, Partition: at.Partition})
	}
	for away := range partitions {
		for i := range nodes {
			key, value, err := ingest.EncodeTransaction(lethe.Transaction{
				ID: transactionID(1, i), Timestep: 1, Features: []float32{float32(i), float32(away), 0.5},
			})
			add(bus.Transactions, away, key, value, err)
			key, value, err = ingest.EncodePayment(lethe.Payment{
				Source: transactionID(1, i), Target: transactionID(1, (i+1+away)%nodes), Timestep: 1,
			})
			add(bus.Transactions, away, key, value, err)
			key, value, err = ingest.EncodeLabel(lethe.LabelRecord{
				ID: transactionID(1, i), Timestep: 1, Label: lethe.Label((i + away) % lethe.NumLabels),
			})
			add(bus.Labels, away, key, value, err)
		}
	}
	return logs
}

// Of two records with one key in two partitions none is the last: that in the partition of the key counts, in whatever
// order the partitions are read, and the other one is a dead letter.
func TestRecordsCountInThePartitionOfTheirKeyAlone(t *testing.T) {
	build := func(d *deployment, s *simulation, order func(left []bus.TopicPartition) int) []byte {
		logs := twoPartitioners(d)
		s.start()
		defer func() { require.NoError(t, s.tail.Close(), s.logic.Close()) }()
		left := []bus.TopicPartition{{Topic: bus.Transactions}, {Topic: bus.Transactions, Partition: 1},
			{Topic: bus.Labels}, {Topic: bus.Labels, Partition: 1}}
		for len(left) > 0 {
			i := order(left)
			log := logs[left[i]]
			if len(log) == 0 {
				left = append(left[:i], left[i+1:]...)
				continue
			}
			n := min(3, len(log))
			d.send(left[i].Topic, log[:n]...)
			logs[left[i]] = log[n:]
			require.NoError(t, s.turn())
		}
		d.send(bus.Transactions, d.controls(bus.Transactions, 1, d.encoding.Close)...)
		d.settle(1)
		require.NoError(t, s.turn())
		require.NoError(t, s.turn())
		content, err := s.logic.store.Load(1)
		require.NoError(t, err)
		require.Len(t, content.Snapshot.Nodes, 12)
		require.Len(t, content.Snapshot.Payments, 12)
		for _, reasons := range d.letterReasons() {
			for _, reason := range reasons {
				require.Equal(t, string(ingest.WrongPartition), reason)
			}
		}
		require.Len(t, d.letterReasons(), 12+12)
		return fmt.Append(canonical.EncodeSnapshot(content.Snapshot), content.Assignment)
	}
	begin := func() (*deployment, *simulation) {
		s := newSimulation(t)
		s.topics = roletest.NewBus(map[bus.Topic]int{bus.Transactions: 2, bus.Labels: 2, bus.Slices: 2, bus.Models: 2})
		return s.deployment, s
	}
	d, s := begin()
	want := build(d, s, func([]bus.TopicPartition) int { return 0 })
	require.NotEmpty(t, want)
	rapid.Check(t, func(r *rapid.T) {
		d, s := begin()
		require.Equal(r, want, build(d, s, func(left []bus.TopicPartition) int {
			return rapid.IntRange(0, len(left)-1).Draw(r, "partition")
		}))
	})
}

// pinned publishes a transaction of each timestep to a partition.
func (d *deployment) pinned(partition int, from, through lethe.Timestep) {
	d.Helper()
	var out []ingest.Outgoing
	for at := from; at <= through; at++ {
		id := d.homed(partition, fmt.Sprint("transaction-", at))
		key, value, err := ingest.EncodeTransaction(lethe.Transaction{ID: id, Timestep: at, Features: []float32{1, 2, 3}})
		require.NoError(d, err)
		out = append(out, ingest.Outgoing{Key: key, Value: value, Pinned: true, Partition: partition})
	}
	d.send(bus.Transactions, out...)
}

// homed returns an id whose records belong in a partition of the transactions.
func (d *deployment) homed(partition int, prefix string) lethe.TransactionID {
	d.Helper()
	n, err := d.topics.Partitions(d.Context(), bus.Transactions)
	require.NoError(d, err)
	for i := 0; ; i++ {
		if id := fmt.Sprint(prefix, "-", i); bus.PartitionOf([]byte(id), n) == partition {
			return lethe.TransactionID(id)
		}
	}
}

// reasons counts the dead letters by reason.
func (d *deployment) reasons() map[ingest.Reason]int {
	d.Helper()
	out := make(map[ingest.Reason]int)
	for _, rec := range roletest.Records(d, d.topics, bus.DeadLetters) {
		letter, err := ingesttest.ParseDeadLetter(rec)
		require.NoError(d, err)
		out[letter.Refusal.Reason]++
	}
	return out
}

// However many timesteps come at once, as after an outage, all are taken: a partition that
// is not read yet may hold what closes them. Where all is read, one who sends records of
// ever later timesteps is stopped at the bound (S6).
func TestTimestepsThatNobodyClosesAreBounded(t *testing.T) {
	d := deploy(t)
	d.mostOpen = 3
	const many = 20
	d.pinned(0, 1, many)
	d.pinned(1, 1, many)
	r, _ := d.run(t.TempDir())
	closed := func(s *role.Status) bool { return s.Count(lethe.Closed) == many-1 && s.Count(lethe.Open) == 1 }
	d.until(r, "all but the newest close", closed)
	require.Empty(t, d.reasons())

	d.pinned(0, many+1, 2*many)
	d.until(r, "what comes is read", func(s *role.Status) bool {
		return s.Consumed[bus.TopicPartition{Topic: bus.Transactions}] == 2*many
	})
	require.Equal(t, map[ingest.Reason]int{ingest.TooManyOpen: many - 2}, d.reasons())
	require.Equal(t, 3, r.Status().Count(lethe.Open))
}
