package graphs

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/canonical"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role/roletest"
)

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
