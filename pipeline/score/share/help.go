package share

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"lethe"
	"lethe/canonical"
	"lethe/partition/onehop"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
	"lethe/scoring/ensemble"
	"lethe/trainer"
)

// Helper answers questions in a process that stands by. It holds the newest graph in memory and
// nothing on disk. A nil *Helper does nothing.
type Helper struct {
	Board *Board
	// Runner asks models. It should not be the one of the role's loop, which works at the same time.
	Runner ensemble.Runner
	OneHop onehop.Mode
	// Kernels is the name of the kernel set.
	Kernels string
	// Instance is the identity of the data directory.
	Instance string
	Around   role.Surroundings

	mu     sync.Mutex
	served *ensemble.Ensemble
	// graph is the message of the newest graph, and digest of it, zero if it was not asked for.
	graph  []byte
	digest lethe.Digest
}

// Serve says which ensemble is served, nil for none.
func (h *Helper) Serve(e *ensemble.Ensemble) {
	if h == nil {
		return
	}
	h.mu.Lock()
	changed := h.served != e
	h.served = e
	h.mu.Unlock()
	if changed {
		h.Board.news()
	}
}

// takeGraph keeps the newest graph, or none once it is gone.
func (h *Helper) takeGraph(m wire.Received) {
	if m.Key.Kind != wire.KindSnapshot {
		return
	}
	h.mu.Lock()
	h.graph, h.digest = m.Payload, lethe.Digest{}
	h.mu.Unlock()
	h.Board.news()
}

// knows returns what a question is about, if this process has it.
func (h *Helper) knows(q wire.Question) (*ensemble.Ensemble, []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.served == nil || h.served.Version != q.Ensemble || h.Kernels != q.Kernels || len(h.graph) == 0 {
		return nil, nil
	}
	if h.digest.IsZero() {
		h.digest = canonical.DigestOf(h.graph)
	}
	if h.digest != q.Graph {
		return nil, nil
	}
	return h.served, h.graph
}

// answer answers every question that it can, once, until the context ends.
func (h *Helper) answer(ctx context.Context) error {
	var done *wire.Ask
	for {
		asked, changed := h.Board.question()
		if asked != nil && asked != done {
			if served, graph := h.knows(asked.Question); served != nil {
				if err := h.work(ctx, asked, served, graph); err != nil {
					return err
				}
				done = asked
				continue
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// errEnough ends the work on a question that nobody waits for any more.
var errEnough = errors.New("the question is withdrawn")

// work asks the models in this process's order, and publishes what they say.
func (h *Helper) work(ctx context.Context, asked *wire.Ask, served *ensemble.Ensemble, graph []byte) error {
	snapshot, err := canonical.DecodeSnapshot(graph)
	if err != nil {
		return nil //nolint:nilerr // the role's loop, which reads it too, says so
	}
	input := trainer.InputOf(h.OneHop.Join(snapshot))
	known := h.Board.Known(asked.Question)
	order := h.order(asked, len(served.Models))
	err = h.Runner.Each(ctx, len(order), func(ctx context.Context, i int) error {
		if now, _ := h.Board.question(); now != asked {
			return errEnough
		}
		if known(order[i]) != nil {
			return nil
		}
		said, err := h.Runner.AskOne(ctx, served.Models, input, order[i])
		if err != nil {
			return err
		}
		a := &wire.Answer{Question: asked.Question, Model: order[i], Posteriors: said}
		if now, _ := h.Board.question(); now != asked {
			return errEnough
		}
		h.Board.answered(a)
		return wire.Publish(ctx, h.Around.Bus, partitions, a.Message())
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("timestep %d: help to score it: %w", asked.Timestep, err)
	}
	return nil
}

// order is the one of this process. One that the question does not name begins where the last does.
func (h *Helper) order(asked *wire.Ask, models int) []lethe.ShardID {
	place := slices.Index(asked.Members, h.Instance)
	if place < 1 {
		place = max(1, len(asked.Members)-1)
	}
	return Order(place, max(2, len(asked.Members)), models)
}
