package view

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"

	"lethe"
	"lethe/canonical"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/partition/scores"
	"lethe/pipeline/wire"
)

// Shard is a slice in numbers.
type Shard struct {
	Shard    lethe.ShardID  `json:"shard"`
	Revision lethe.Revision `json:"revision"`
	// Digest is of the slice's canonical bytes.
	Digest  lethe.Digest `json:"digest"`
	Nodes   int          `json:"nodes"`
	Licit   int          `json:"licit"`
	Illicit int          `json:"illicit"`
	// Payments are within the shard, directions together. Stubs represent cut ones.
	Payments int `json:"payments"`
	Stubs    int `json:"stubs"`
	// Published is the record's time.
	Published time.Time `json:"published,omitzero"`
}

// Partitioning is a timestep's partition and its scores (partition/scores).
type Partitioning struct {
	Balance  float64 `json:"balance"`
	Fairness float64 `json:"fairness"`
	// Cut is the share of payments between shards.
	Cut    float64 `json:"cut"`
	Shards []Shard `json:"shards"`
}

func shardKey(t lethe.Timestep, shard lethe.ShardID) []byte {
	return binary.BigEndian.AppendUint32(timestepkey.New(shardPrefix, t), uint32(shard))
}

// takeSlice stores or removes a slice's numbers.
func (g *graphs) takeSlice(source bus.TopicPartition, m wire.Received) error {
	key := shardKey(m.Key.Timestep, m.Key.Shard)
	if m.Deleted {
		return g.applyRecord(source, m.Next, func(w swapstore.Writer) error {
			w.Delete(key)
			return nil
		})
	}
	slice, err := canonical.DecodeSlice(m.Payload)
	if slice == nil {
		slice = new(lethe.Slice)
	}
	if err := m.PayloadOf(err, slice.Timestep, slice.Shard); err != nil {
		return err
	}
	var before Shard
	if _, err := getJSON(g.store, key, &before); err != nil {
		return err
	}
	if before.Revision >= m.Revision {
		return g.applyRecord(source, m.Next, nil)
	}
	err = g.applyRecord(source, m.Next, func(w swapstore.Writer) error { return setJSON(w, key, numbersOf(slice, m)) })
	if err == nil {
		g.feed.notify(Timesteps)
	}
	return err
}

func numbersOf(s *lethe.Slice, m wire.Received) Shard {
	out := Shard{
		Shard: s.Shard, Revision: m.Revision, Digest: canonical.DigestOf(m.Payload), Nodes: len(s.Nodes),
		Payments: len(s.Edges), Stubs: len(s.Stubs), Published: m.Time.UTC(),
	}
	for _, label := range s.Labels {
		switch label {
		case lethe.Licit:
			out.Licit++
		case lethe.Illicit:
			out.Illicit++
		default:
		}
	}
	return out
}

func deleteShards(store swapstore.Reader, w swapstore.Writer, t lethe.Timestep) error {
	return store.Scan(timestepkey.New(shardPrefix, t), func(key, _ []byte) error {
		w.Delete(key)
		return nil
	})
}

// Shards returns a timestep's partition, or nil.
func (r *Reader) Shards(t lethe.Timestep) (*Partitioning, error) {
	shards, err := shardsOf(r.store, t)
	if err != nil || len(shards) == 0 {
		return nil, err
	}
	out := &Partitioning{Shards: shards}
	graph, err := readStored(r.store, t)
	if err != nil {
		return nil, err
	}
	within := 0
	sizes, classes := make([]int, len(out.Shards)), make([][]int, len(out.Shards))
	for i, s := range out.Shards {
		within += s.Payments
		sizes[i], classes[i] = s.Nodes, []int{s.Nodes - s.Licit - s.Illicit, s.Licit, s.Illicit}
	}
	out.Balance, out.Fairness = scores.Balance(sizes), scores.Fairness(classes)
	if graph != nil && graph.Pairs > 0 {
		out.Cut = max(0, 1-float64(within)/float64(graph.Pairs))
	}
	return out, nil
}

func shardsOf(store swapstore.Reader, t lethe.Timestep) (list []Shard, err error) {
	err = store.Scan(timestepkey.New(shardPrefix, t), func(_, value []byte) error {
		var s Shard
		if err := json.Unmarshal(value, &s); err != nil {
			return fmt.Errorf("%w: a shard of timestep %d", swapstore.ErrCorrupt, t)
		}
		list = append(list, s)
		return nil
	})
	return list, err
}
