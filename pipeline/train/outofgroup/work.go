package outofgroup

import (
	"context"

	"lethe"
	"lethe/pipeline/wire"
	"lethe/scoring/ensemble"
	"lethe/trainer"
)

// Work is what is asked to learn one meta-model.
type Work struct {
	// Question is what all answers have in common; its Graph is set for each slice.
	Question wire.Question
	Models   []*trainer.Checkpoint
	// Slices are those of the window, oldest timestep first, and Digests theirs.
	Slices  []*lethe.Slice
	Digests []lethe.Digest
	// left is how many of them, from the front, this process has not come to.
	left int
}

// NewWork begins with nothing done.
func NewWork(q wire.Question, models []*trainer.Checkpoint, window [][]*lethe.Slice, digests [][]lethe.Digest) *Work {
	w := &Work{Question: q, Models: models}
	for i := range window {
		w.Slices, w.Digests = append(w.Slices, window[i]...), append(w.Digests, digests[i]...)
	}
	w.left = len(w.Slices)
	return w
}

// about is the question about a slice, and the key of its answer.
func (w *Work) about(source int) (wire.Question, wire.Key) {
	q, s := w.Question, w.Slices[source]
	q.Graph = w.Digests[source]
	return q, wire.Key{Kind: wire.KindSaid, Shard: s.Shard, Timestep: s.Timestep}
}

// Heard returns what somebody else was told of a slice, or nil; see ensemble.Runner.Learn.
func (w *Work) Heard(b *Board) func(source int) []float32 {
	return func(source int) []float32 { return b.Heard(w.about(source)) }
}

// Ask asks about the next slices of which nothing was heard, from the newest on, as many as the runner has
// workers. Nothing is returned when there are none left, or nobody needs them any more.
func (w *Work) Ask(ctx context.Context, r ensemble.Runner, b *Board) ([]wire.Message, error) {
	var next []int
	for ; w.left > 0 && len(next) < r.Workers && !b.Withdrawn(w.Question); w.left-- {
		if b.Heard(w.about(w.left-1)) == nil {
			next = append(next, w.left-1)
		}
	}
	out := make([]wire.Message, len(next))
	err := r.Each(ctx, len(next), func(ctx context.Context, i int) error {
		said, err := r.Said(ctx, w.Models, w.Slices[next[i]])
		if err != nil {
			return err
		}
		q, key := w.about(next[i])
		answer := &wire.Said{Question: q, Shard: key.Shard, Of: key.Timestep, Probabilities: said}
		b.Note(answer)
		out[i] = answer.Message()
		return nil
	})
	return out, err
}
