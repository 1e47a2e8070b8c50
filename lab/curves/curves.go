// Package curves collects training losses and draws them, one faint line per
// shard and their mean.
package curves

import (
	"maps"
	"slices"
	"sync"

	"lethe"
	"lethe/lab/protocol"
	"lethe/lab/report"
)

// Axis says what a curve runs along.
type Axis string

// The axes. Epochs suit models that train once, timesteps those that go on
// training along a stream.
const (
	Epochs    Axis = "epoch"
	Timesteps Axis = "timestep"
)

// Recorder takes the losses of training. Its Epoch may be called from several
// goroutines at once, but not for one shard.
type Recorder struct {
	axis  Axis
	mutex sync.Mutex
	// shards holds per shard and place on the axis the losses seen there.
	shards map[lethe.ShardID]map[int64]*mean
}

type mean struct {
	sum   float64
	count int
}

// NewRecorder returns an empty recorder.
func NewRecorder(axis Axis) *Recorder {
	return &Recorder{axis: axis, shards: make(map[lethe.ShardID]map[int64]*mean)}
}

// Epoch notes one loss; several at one place of the axis are averaged.
func (r *Recorder) Epoch(e protocol.Epoch) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	at := int64(e.Epoch)
	if r.axis == Timesteps {
		at = int64(e.Timestep)
	}
	if r.shards[e.Shard] == nil {
		r.shards[e.Shard] = make(map[int64]*mean)
	}
	if r.shards[e.Shard][at] == nil {
		r.shards[e.Shard][at] = &mean{}
	}
	m := r.shards[e.Shard][at]
	m.sum += e.Loss
	m.count++
}

// Figure draws what was recorded.
func (r *Recorder) Figure(title string) *report.Figure {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	f := &report.Figure{Title: title, X: string(r.axis), Y: "training loss", Bare: true}
	all := make(map[int64]*mean)
	for _, shard := range slices.Sorted(maps.Keys(r.shards)) {
		line := report.Line{Faint: true}
		for _, at := range slices.Sorted(maps.Keys(r.shards[shard])) {
			m := r.shards[shard][at]
			line.X, line.Y = append(line.X, float64(at)), append(line.Y, m.sum/float64(m.count))
			if all[at] == nil {
				all[at] = &mean{}
			}
			all[at].sum += m.sum / float64(m.count)
			all[at].count++
		}
		f.Lines = append(f.Lines, line)
	}
	line := report.Line{Name: "mean of the shards"}
	for _, at := range slices.Sorted(maps.Keys(all)) {
		line.X, line.Y = append(line.X, float64(at)), append(line.Y, all[at].sum/float64(all[at].count))
	}
	f.Lines = append(f.Lines, line)
	return f
}
