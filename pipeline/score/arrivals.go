package score

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/score/window"
	"lethe/pipeline/wire"
	"lethe/scoring/ensemble"
)

const (
	// windowPlaces bounds the transactions, and ends of payments, of open timesteps.
	windowPlaces = 1 << 16
	// recentRecords is how far back a partition of transactions.v1 is read at the start to fill the window.
	recentRecords = 1 << 14
)

// arrivals makes provisional predictions when transactions arrive. It runs beside the loop of the role and has no
// state on disk: one goroutine reads transactions.v1 into the window, another one scores it. The loop passes it the
// served ensemble, closed timesteps and suppressed targets. When such a call returns, later predictions do not
// contradict it: predictions are written under the same lock.
//
// A nil *arrivals does nothing.
type arrivals struct {
	secret    lethe.Secret
	limits    ingest.Limits
	predictor predictor
	around    role.Surroundings
	// wake holds a token when there may be something to score.
	wake chan struct{}
	// current is the ensemble of the last call of serve. Only the loop uses it.
	current *ensemble.Ensemble

	mu     sync.Mutex
	window *window.Window
	served *ensemble.Ensemble
}

// newArrivals returns the arrivals of a role; nil without provisional scores, as in a standby.
func newArrivals(o Options) (*arrivals, error) {
	if !o.Scoring.Provisional || o.Standing.StandsBy() {
		return nil, nil //nolint:nilnil // there are none
	}
	// Its own programs: those of a closed timestep are large, and few are kept.
	p, err := newPredictor(o)
	return &arrivals{
		secret: o.Secret, limits: o.Limits, predictor: p, around: o.Surroundings, wake: make(chan struct{}, 1),
		window: window.New(o.Secret, window.Bounds{
			Places: windowPlaces, First: o.FirstTimestep, Jump: o.MaxTimestepJump,
		}),
	}, err
}

// serve sets the served ensemble, nil for none.
func (a *arrivals) serve(e *ensemble.Ensemble) error {
	if a == nil || a.current == e {
		return nil
	}
	a.current = e
	width := 0
	if e != nil {
		for _, m := range e.Models {
			features, err := m.Features()
			if err != nil {
				return err
			}
			width = max(width, features)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.served = nil; width > 0 { // else no model has met a label
		a.served = e
		a.window.SetWidth(a.predictor.oneHop.Own(width))
	}
	a.signal()
	return nil
}

// close closes a timestep and all before it: final scores of its graph follow. Transactions in no graph were rejected,
// and their predictions are withdrawn.
func (a *arrivals) close(ctx context.Context, graph *lethe.Snapshot) error {
	if a == nil {
		return nil
	}
	nodes := make([]lethe.Pseudonym, len(graph.Nodes))
	for i, n := range graph.Nodes {
		nodes[i] = n.Pseudonym
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	refused := a.window.Close(graph.Timestep, nodes)
	if len(refused) == 0 {
		return nil
	}
	records := make([]ingest.Outgoing, len(refused))
	for i, id := range refused {
		records[i].Key = ingest.TransactionKey(id)
	}
	if err := a.around.Bus.Write(ctx, bus.Predictions, records); err != nil {
		return fmt.Errorf("timestep %d: withdraw from %s: %w", graph.Timestep, bus.Predictions, err)
	}
	return nil
}

// resume sets the timesteps that were closed before the start.
func (a *arrivals) resume(s *state) error {
	if a == nil {
		return nil
	}
	for _, t := range s.links.known() {
		predictions, err := s.published(t)
		if err != nil {
			return err
		}
		var nodes []lethe.Pseudonym
		if predictions != nil {
			nodes = predictions.Nodes()
		}
		a.window.Close(t, nodes)
	}
	return nil
}

// suppress drops transactions, payments and carriers of subjects, and features of others.
func (a *arrivals) suppress(hashes []lethe.Digest, redacted []lethe.Redaction, subjects ...lethe.SubjectUntil) {
	if a == nil || len(hashes) == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.window.Suppress(hashes, subjects...)
	a.window.Redact(redacted)
	a.signal()
}

// lift accepts suppressed transactions again.
func (a *arrivals) lift(hashes []lethe.Digest, still ...lethe.SubjectUntil) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.window.Lift(hashes, still...)
}

// pass sets the timesteps that were scored, and whose graphs are not read yet: the graph of a later one may come first,
// and their transactions are not rejected ones.
func (a *arrivals) pass(s *state) {
	if a == nil {
		return
	}
	for _, run := range s.scored {
		a.window.Close(run[1], nil)
	}
	for t, predictions := range s.recovered {
		a.window.Close(t, predictions.Nodes())
	}
}

func (a *arrivals) signal() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// run reads and scores until the context ends, which is no error.
func (a *arrivals) run(ctx context.Context) error {
	if a == nil {
		return nil
	}
	group, running := errgroup.WithContext(ctx)
	group.Go(func() error { return a.read(running) })
	group.Go(func() error { return a.scoreAll(running) })
	if err := wire.UnlessStopped(ctx, group.Wait()); err != nil {
		return fmt.Errorf("provisional scores: %w", err)
	}
	return nil
}

// read reads records into the window, from recent ones on. The graphs report unreadable ones.
func (a *arrivals) read(ctx context.Context) error {
	ends, err := a.around.Bus.EndOffsets(ctx, bus.Transactions)
	if err != nil {
		return err
	}
	from := make(map[bus.TopicPartition]int64)
	for p, end := range ends {
		from[bus.TopicPartition{Topic: bus.Transactions, Partition: p}] = max(0, end-recentRecords)
	}
	tail, err := a.around.Bus.Follow(from)
	if err != nil {
		return err
	}
	defer tail.Close() //nolint:errcheck // nothing was written
	for {
		batch, err := tail.Next(ctx)
		switch {
		case err == nil:
			a.take(batch, ends[batch.Source.Partition])
		case !errors.Is(err, bus.ErrInterrupted) || ctx.Err() != nil:
			return err
		}
	}
}

// take adds a batch to the window. Delays of records before began, which are older than the role's start, are not
// measured.
func (a *arrivals) take(batch bus.Batch, began int64) {
	decoded := make([]ingest.Event, len(batch.Records))
	for i, rec := range batch.Records {
		if event, err := ingest.DecodeTransactions(rec, a.limits); err == nil {
			decoded[i] = event
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, event := range decoded {
		written := batch.Records[i].Time
		if batch.Records[i].Offset < began {
			written = time.Time{}
		}
		switch e := event.(type) {
		case ingest.Transaction:
			a.window.Transaction(e.Transaction, written)
		case ingest.Payment:
			a.window.Payment(e.Payment, written, e.Subjects...)
		default:
			// The graphs decide when timesteps close.
		}
	}
	a.signal()
}
