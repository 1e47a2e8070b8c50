package service_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/dataset"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/deadletters"
	"lethe/service"
	"lethe/service/servicetest"
	"lethe/service/waiting"
)

// sendAway writes the labels of a timestep, each as another one, and its transactions with other features, as a
// producer does whose partitioner gives no record the partition that murmur2 gives it. It returns how many there are.
func sendAway(r *running, step dataset.Step) (count int) {
	r.T.Helper()
	const partitions = 2
	away := func(topic bus.Topic, key, value []byte, err error) {
		require.NoError(r.T, err)
		writeTo(r, topic, 1-bus.PartitionOf(key, partitions), key, value)
		count++
	}
	for _, tx := range step.Transactions {
		tx.Features = append([]float32{9}, tx.Features[1:]...)
		key, value, err := ingest.EncodeTransaction(tx)
		away(bus.Transactions, key, value, err)
	}
	for _, l := range step.Labels {
		l.Label = map[lethe.Label]lethe.Label{lethe.Illicit: lethe.Licit, lethe.Licit: lethe.Illicit}[l.Label]
		key, value, err := ingest.EncodeLabel(l)
		away(bus.Labels, key, value, err)
	}
	return count
}

// Two producers with different partitioners send records under the same keys: whatever is read first, and however often
// everything is made again of the topics, the models are those of the records in the partitions of their keys.
func TestTwoPartitionersMakeOneEnsemble(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 3, 40, 5)
	alone := start(t, servicetest.SmallConfig(t, t.TempDir()))
	want := alone.Replay(stream).EnsembleHash
	alone.Stop()

	c := servicetest.SmallConfig(t, t.TempDir())
	r := start(t, c)
	count := 0
	for _, step := range stream.Steps[:2] {
		count += sendAway(r, step)
	}
	require.Equal(t, want, r.Replay(stream).EnsembleHash)
	count += sendAway(r, stream.Steps[2])
	require.Equal(t, want, r.Quiet().EnsembleHash)
	awaitCause(r, waiting.WrongPartition, false)
	r.Stop()
	for range 2 {
		remove(t, c, "build", "train", "score", "view")
		r = start(t, c)
		r.Await(func(s *service.Status) bool { return s.TrainedThrough == 3 && s.LagRecords == 0 })
		require.Equal(t, want, r.Quiet().EnsembleHash)
		letters := 0
		for _, letter := range deadLetters(r) {
			require.Equal(t, ingest.WrongPartition, letter.Refusal.Reason)
			letters++
		}
		require.Equal(t, count, letters)
		r.Stop()
	}
}

// What was sent to another partition than that of its key counts once it is sent again.
func TestARecordInAnotherPartitionIsSentToItsOwn(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 2, 40, 5)
	alone := start(t, servicetest.SmallConfig(t, t.TempDir()))
	want := alone.Replay(stream).EnsembleHash
	alone.Stop()

	c := servicetest.SmallConfig(t, t.TempDir())
	c.Ingest.ReopenWindow = time.Millisecond
	r := start(t, c)
	first := stream.Steps[0]
	for _, l := range first.Labels {
		key, value, err := ingest.EncodeLabel(l)
		require.NoError(t, err)
		writeTo(r, bus.Labels, 1-bus.PartitionOf(key, 2), key, value)
	}
	without := *stream
	without.Steps = append([]dataset.Step{first}, stream.Steps[1:]...)
	without.Steps[0].Labels = nil
	require.NotEqual(t, want, r.Replay(&without).EnsembleHash)
	letters, err := deadletters.List(t.Context(), r.Client(), deadletters.Filter{})
	require.NoError(t, err)
	sent, refused, err := deadletters.Replay(t.Context(), r.Client(), letters, time.Now())
	require.NoError(t, err)
	require.Empty(t, refused)
	require.Equal(t, len(first.Labels), sent)
	r.Await(func(s *service.Status) bool { return s.EnsembleHash == want })
	require.Empty(t, deadLetters(r))
}
