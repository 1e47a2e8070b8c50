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
	Sources  []Source
	// left is how many of them, from the front, this process has not come to.
	left int
}

// Source is a slice that models are asked about, read when its turn comes: most are another process's.
type Source struct {
	Shard    lethe.ShardID
	Timestep lethe.Timestep
	Digest   lethe.Digest
	// Read returns the slice. Several goroutines may read different ones.
	Read func() (*lethe.Slice, error)
}

// NewWork begins with nothing done. The sources are those of the oldest timestep first.
func NewWork(q wire.Question, models []*trainer.Checkpoint, sources []Source) *Work {
	return &Work{Question: q, Models: models, Sources: sources, left: len(sources)}
}

// about is the question about a slice, and the key of its answer.
func (w *Work) about(source int) (wire.Question, wire.Key) {
	q, s := w.Question, w.Sources[source]
	q.Graph = s.Digest
	return q, wire.Key{Kind: wire.KindSaid, Shard: s.Shard, Timestep: s.Timestep}
}

// Learnt are the sources as the meta-model is learnt from them. What others were told is on the board, which
// may be nil.
func (w *Work) Learnt(known *ensemble.Known, b *Board) ensemble.Sources {
	s := ensemble.Sources{
		Count: len(w.Sources), Known: known,
		Slice: func(source int) (*lethe.Slice, error) { return w.Sources[source].Read() },
	}
	for _, source := range w.Sources {
		s.Headers = append(s.Headers, ensemble.Header{Shard: source.Shard, Digest: source.Digest})
	}
	if b != nil {
		s.Heard = func(source int) *ensemble.Said { return b.Heard(w.about(source)) }
	}
	return s
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
		slice, err := w.Sources[next[i]].Read()
		if err != nil {
			return err
		}
		said, err := r.Said(ctx, w.Models, slice)
		if err != nil {
			return err
		}
		q, key := w.about(next[i])
		answer := &wire.Said{
			Question: q, Shard: key.Shard, Of: key.Timestep, Illicit: said.Illicit, Probabilities: said.Probabilities,
		}
		b.Note(answer)
		out[i] = answer.Message()
		return nil
	})
	return out, err
}
