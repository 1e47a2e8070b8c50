package service_test

import (
	"maps"
	"strings"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/dataset"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
	"lethe/scoring"
)

// final are the newest predictions but the provisional ones, which are made again when a
// neighbour goes.
func finalPredictions(r *running) map[string]string {
	r.T.Helper()
	out := r.Newest(bus.Predictions)
	maps.DeleteFunc(out, func(_, value string) bool {
		p, err := scoring.DecodePrediction([]byte(value))
		require.NoError(r.T, err)
		return !p.Final
	})
	return out
}

// naming counts the records of a topic, tombstones included, that hold one of
// the texts in key or value.
func countNaming(r *running, topic bus.Topic, texts ...string) int {
	r.T.Helper()
	n := 0
	require.NoError(r.T, r.Client().ReadAll(r.T.Context(), topic, func(rec ingest.Record) error {
		for _, text := range texts {
			if strings.Contains(string(rec.Key), text) || strings.Contains(string(rec.Value), text) {
				n++
				break
			}
		}
		return nil
	}))
	return n
}

// artefacts puts together the newest messages of a topic of slices or models.
func artefacts(r *running, topic bus.Topic) map[sliceAt][]byte {
	r.T.Helper()
	out := make(map[sliceAt][]byte)
	assemblers := make(map[int]*bus.Assembler)
	require.NoError(r.T, r.Client().ReadAll(r.T.Context(), topic, func(rec ingest.Record) error {
		a := assemblers[rec.Partition]
		if a == nil {
			a = bus.NewAssembler()
			assemblers[rec.Partition] = a
		}
		p, complete, err := a.Add(rec)
		if err != nil || !complete {
			return err
		}
		key, err := wire.ParseKey(p.Key)
		if p.Retracted {
			delete(out, sliceAt{key.Shard, key.Timestep})
			return err
		}
		out[sliceAt{key.Shard, key.Timestep}] = p.Bytes
		return err
	}))
	return out
}

// send writes one record, as the encoders give it, as the fraud team would.
func send(r *running, topic bus.Topic) func(key, value []byte, err error) {
	return func(key, value []byte, err error) {
		r.T.Helper()
		require.NoError(r.T, err)
		require.NoError(r.T, r.Client().Write(r.T.Context(), topic, []ingest.Outgoing{{Key: key, Value: value}}))
	}
}

func sendTransaction(r *running, tx lethe.Transaction) {
	r.T.Helper()
	send(r, bus.Transactions)(ingest.EncodeTransaction(tx))
}

// sendGraph writes a timestep's transactions and payments.
func sendGraph(r *running, step dataset.Step) {
	r.T.Helper()
	for _, tx := range step.Transactions {
		sendTransaction(r, tx)
	}
	for _, p := range step.Payments {
		send(r, bus.Transactions)(ingest.EncodePayment(p))
	}
}

// sendLabels writes a timestep's labels.
func sendLabels(r *running, step dataset.Step) {
	r.T.Helper()
	for _, l := range step.Labels {
		send(r, bus.Labels)(ingest.EncodeLabel(l))
	}
}

// end writes a close or settle record to every partition.
func endTimestep(r *running, topic bus.Topic, at lethe.Timestep, encode func(lethe.Timestep, int) (key, value []byte)) {
	r.T.Helper()
	n, err := r.Client().Partitions(r.T.Context(), topic)
	require.NoError(r.T, err)
	for p := range n {
		key, value := encode(at, p)
		records := []ingest.Outgoing{{Key: key, Value: value, Pinned: true, Partition: p}}
		require.NoError(r.T, r.Client().Write(r.T.Context(), topic, records))
	}
}
