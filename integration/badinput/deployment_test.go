package badinput_test

import (
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/dataset"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/ingest/ingesttest"
	"lethe/integration/process"
	"lethe/service"
)

// deployment is a lethe run and a client of its brokers.
type deployment struct {
	t       *testing.T
	service *process.Service
	client  *bus.Client
}

const partitions = 2

// start starts a small deployment. Nothing is compacted, so that two records
// under one key can both be found.
func start(t *testing.T, bin, secret string) *deployment {
	t.Helper()
	args := []string{}
	for key, value := range map[string]string{
		"secret_file": secret, "kafka.partitions": strconv.Itoa(partitions), "embedded.clean_interval": "1h",
		"ingest.max_record_bytes": "20000", "ingest.feature_count": "6", "ingest.late": "dlq",
		"partition.shards": "3", "trainer.hidden": "8", "trainer.passes": "1", "ingest.schema_id": "7",
	} {
		args = append(args, "--set", key+"="+value)
	}
	s := process.Start(t, bin, filepath.Join(t.TempDir(), "data"), process.FreePorts(t), args...)
	client, err := bus.Open(bus.At(s.Brokers))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return &deployment{t, s, client}
}

// play publishes the stream timestep by timestep, as lethe replay does, with
// the broken records among the good ones.
func (d *deployment) play(stream *dataset.Stream, all []broken) {
	d.t.Helper()
	for i, step := range stream.Steps {
		pick := func(topic bus.Topic, after bool) (out []ingest.Outgoing) {
			for _, b := range all {
				if b.topic == topic && b.step == int(step.Timestep) && b.after == after {
					out = append(out, b.out)
				}
			}
			return out
		}
		good := encoded(d.t, step.Transactions, ingest.EncodeTransaction)
		for _, p := range step.Payments {
			key, value, err := ingest.EncodePayment(p)
			require.NoError(d.t, err)
			good = append(good, ingest.Outgoing{Key: key, Value: value})
		}
		d.write(bus.Transactions, mix(good, pick(bus.Transactions, false)))
		d.end(bus.Transactions, step, ingest.EncodeClose)
		d.write(bus.Labels, mix(encoded(d.t, step.Labels, ingest.EncodeLabel), pick(bus.Labels, false)))
		d.end(bus.Labels, step, ingest.EncodeSettle)
		d.write(bus.Erasures, pick(bus.Erasures, false))
		d.service.Await("timestep to settle", func(s service.Status) bool {
			return s.Timesteps.Settled == i+1 &&
				s.LagRecords == 0
		})
		d.write(bus.Transactions, pick(bus.Transactions, true))
		d.write(bus.Labels, pick(bus.Labels, true))
	}
}

func encoded[T any](t *testing.T, from []T, encode func(T) (key, value []byte, err error)) []ingest.Outgoing {
	t.Helper()
	out := make([]ingest.Outgoing, len(from))
	for i, v := range from {
		key, value, err := encode(v)
		require.NoError(t, err)
		out[i] = ingest.Outgoing{Key: key, Value: value}
	}
	return out
}

// mix spreads the broken records over the good ones, which keep their order.
func mix(good, bad []ingest.Outgoing) []ingest.Outgoing {
	var out []ingest.Outgoing
	taken := 0
	for i, rec := range good {
		for ; taken < len(bad)*(i+1)/len(good); taken++ {
			out = append(out, bad[taken])
		}
		out = append(out, rec)
	}
	return out
}

func (d *deployment) write(topic bus.Topic, records []ingest.Outgoing) {
	d.t.Helper()
	require.NoError(d.t, d.client.Write(d.t.Context(), topic, records))
}

// end writes the control record of a timestep to every partition.
func (d *deployment) end(topic bus.Topic, step dataset.Step, encode func(lethe.Timestep, int) (key, value []byte)) {
	d.t.Helper()
	for p := range partitions {
		key, value := encode(step.Timestep, p)
		d.write(topic, []ingest.Outgoing{{Key: key, Value: value, Pinned: true, Partition: p}})
	}
}

// outcome waits until the whole stream is settled, trained and scored, and
// returns the ensemble's hash and the predictions by transaction.
func (d *deployment) outcome(stream *dataset.Stream) (hash string, predictions map[string]string) {
	d.t.Helper()
	_, last := stream.Range()
	totals := stream.Totals()
	// Nothing was trained before the first timestep, so it stays unscored.
	scored := totals.Transactions - len(stream.Steps[0].Transactions)
	status := d.service.Await("the end of the stream", func(s service.Status) bool {
		return s.LagRecords == 0 && s.TrainedThrough == last && s.Predictions == scored
	})
	require.Equal(d.t, service.TimestepCounts{Settled: totals.Steps}, status.Timesteps)
	require.Equal(d.t, totals.Transactions, status.Transactions)
	predictions = d.predictions()
	require.Len(d.t, predictions, scored)
	for _, step := range stream.Steps[1:] {
		for _, tx := range step.Transactions {
			require.Contains(d.t, predictions, string(tx.ID))
		}
	}
	return status.EnsembleHash, predictions
}

// predictions are those that stand in their topic, by transaction.
func (d *deployment) predictions() map[string]string {
	d.t.Helper()
	predictions := make(map[string]string)
	require.NoError(d.t, d.client.ReadAll(d.t.Context(), bus.Predictions, func(rec ingest.Record) error {
		if delete(predictions, string(rec.Key)); rec.Value != nil {
			predictions[string(rec.Key)] = string(rec.Value)
		}
		return nil
	}))
	return predictions
}

// place is where a record stands in the log.
type place struct {
	topic     string
	partition int
	offset    int64
}

// letters reads the dead letters, by the place of the original. Nothing else
// may be in the topic, and nothing twice for the same reason: what a record refers to may
// turn out to be somewhere else later.
func (d *deployment) letters() map[place]ingesttest.Letter {
	d.t.Helper()
	found := make(map[place]ingesttest.Letter)
	require.NoError(d.t, d.client.ReadAll(d.t.Context(), bus.DeadLetters, func(rec ingest.Record) error {
		letter, err := ingesttest.ParseDeadLetter(rec)
		require.NoError(d.t, err)
		original := letter.Record
		at := place{original.Topic, original.Partition, original.Offset}
		require.NotEqual(d.t, letter.Refusal.Reason, found[at].Refusal.Reason)
		original.Key, original.Value = clone(original.Key), clone(original.Value)
		letter.Record = original
		found[at] = letter
		return nil
	}))
	return found
}

// clone keeps nil apart from empty.
func clone(b []byte) []byte {
	if b == nil {
		return nil
	}
	return append([]byte{}, b...)
}
