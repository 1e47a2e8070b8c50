package protocol

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"lethe/partition/graph"
	"lethe/trainer"
)

// Partitions keeps what RunGraph partitions, because a partition does not depend
// on the model and the repair, of which a table has many. The zero value is ready,
// and several goroutines may use it at once.
type Partitions struct {
	mutex sync.Mutex
	found map[partitionKey]*partitioned
}

// partitionKey is all that the partition of a training graph depends on.
type partitionKey struct {
	graph         *Graph
	transductive  bool
	trainFraction float64
	shards        int
	partition     Partition
	seed          uint64
	// epochs are those of an embedding.
	epochs int
}

// partitioned is a partition and how long it took to find. Nobody changes it once
// it is found.
type partitioned struct {
	once       sync.Once
	assignment graph.Assignment
	shape      Shape
	seconds    float64
	err        error
}

// get finds the partition for a key unless it was found before. A nil receiver
// keeps nothing.
func (p *Partitions) get(key partitionKey, find func(*partitioned)) *partitioned {
	if p == nil {
		found := new(partitioned)
		find(found)
		return found
	}
	p.mutex.Lock()
	if p.found == nil {
		p.found = make(map[partitionKey]*partitioned)
	}
	found, ok := p.found[key]
	if !ok {
		found = new(partitioned)
		p.found[key] = found
	}
	p.mutex.Unlock()
	found.once.Do(func() { find(found) })
	return found
}

// Ensembles keeps the ensemble that was trained last, because several batches are
// forgotten from the same one. The zero value is ready; of several goroutines one trains
// at a time.
type Ensembles struct {
	mutex  sync.Mutex
	graph  *Graph
	key    string
	models []*trainer.Checkpoint
}

// trainOnce trains the shards unless that was the last thing done with the same graph
// and settings. The checkpoints are shared: nobody changes one that is trained.
func (t *graphRun) trainOnce(ctx context.Context, out *Outcome) error {
	kept := t.r.Ensembles
	if kept == nil {
		return t.train(ctx, out)
	}
	key, err := json.Marshal(t.s)
	if err != nil {
		return fmt.Errorf("key of an ensemble: %w", err)
	}
	kept.mutex.Lock()
	defer kept.mutex.Unlock()
	if kept.graph == t.g && kept.key == string(key) {
		t.models, err = newShardModels(t.s, t.g.Classes, 1, trainer.Window, t.r)
		if err == nil {
			t.models.models = slices.Clone(kept.models)
		}
		return err
	}
	if err := t.train(ctx, out); err != nil {
		return err
	}
	kept.graph, kept.key, kept.models = t.g, string(key), slices.Clone(t.models.models)
	return nil
}
