package protocol

import (
	"sync"

	"lethe/partition/graph"
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
