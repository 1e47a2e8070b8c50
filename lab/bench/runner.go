package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"lethe/lab/networks"
	"lethe/lab/protocol"
	"lethe/trainer"
	"lethe/trainer/kernels"
)

// Runner measures cells.
type Runner struct {
	Data    *Data
	Store   *Store
	Kernels kernels.Set
	// Workers is how many cells run side by side; timed cells run alone, with
	// as many shards side by side.
	Workers int
	// OnlyFinished measures nothing: cells that are not finished are absent.
	OnlyFinished bool
	// Progress is called with how far the work is, one call after the other.
	Progress func(Progress)
	// Now is the clock, Used the processor time of the process so far.
	Now  func() time.Time
	Used func() time.Duration
}

// Progress is how far a call of Run is.
type Progress struct {
	// Done and Total count cells; Kept of them were finished before.
	Done, Total, Kept int
	// Left is the time left, from what finished cells took; 0 if unknown.
	Left time.Duration
	// Last describes the cell that was finished last.
	Last Cell
}

// Results holds what was measured, and why something was not.
type Results struct {
	keys    map[string]Result
	failed  map[string]error
	digests map[string]string
	kernels string
}

// Get returns the result of a cell, or why there is none: an error that wraps
// ErrAbsent where the data set or the model does not exist here.
func (r *Results) Get(c Cell) (Result, error) {
	key, err := c.key(r.digests[c.Dataset], r.kernels)
	if err != nil {
		return Result{}, err
	}
	if err := r.failed[key]; err != nil {
		return Result{}, err
	}
	result, ok := r.keys[key]
	if !ok {
		return Result{}, fmt.Errorf("%w: the cell was not asked for", ErrAbsent)
	}
	return result, nil
}

// Any tells whether at least one of the cells has a result.
func (r *Results) Any(cells []Cell) bool {
	return slices.ContainsFunc(cells, func(c Cell) bool {
		_, err := r.Get(c)
		return err == nil
	})
}

// job is a cell that is still to be measured.
type job struct {
	cell Cell
	key  string
}

// Run measures the cells that are not finished, each once however often it
// occurs. An absent data set does not end it; any other error does, and the
// cells finished so far are kept.
func (r *Runner) Run(ctx context.Context, cells []Cell) (*Results, error) {
	out := &Results{
		keys: make(map[string]Result), failed: make(map[string]error),
		digests: make(map[string]string), kernels: r.Kernels.Name,
	}
	jobs, total, err := r.plan(cells, out)
	if err != nil {
		return nil, err
	}
	b := &board{runner: r, out: out, total: total, kept: total - len(jobs), started: r.Now()}
	b.report(Cell{})
	timed := func(j job) bool { return j.cell.Timed() }
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(max(1, r.Workers))
	for _, j := range jobs {
		if !timed(j) {
			group.Go(func() error { return b.do(inner, j, 1) })
		}
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, j := range jobs {
		if timed(j) {
			if err := b.do(ctx, j, max(1, r.Workers)); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// plan looks up what is finished or absent and returns the rest.
func (r *Runner) plan(cells []Cell, out *Results) (jobs []job, total int, err error) {
	seen := make(map[string]bool)
	for _, c := range cells {
		digest, absent := r.Data.Digest(c.Dataset)
		if absent != nil && !errors.Is(absent, ErrAbsent) {
			return nil, 0, absent
		}
		out.digests[c.Dataset] = digest
		key, err := c.key(digest, out.kernels)
		if err != nil {
			return nil, 0, err
		}
		if seen[key] {
			continue
		}
		seen[key] = true
		if absent == nil {
			absent = modelExists(c)
		}
		if absent != nil {
			out.failed[key] = absent
			continue
		}
		if result, ok := r.Store.get(key); ok {
			out.keys[key] = result
			total++
			continue
		}
		if r.OnlyFinished {
			out.failed[key] = fmt.Errorf("%w yet, or not on all splits", ErrAbsent)
			continue
		}
		total++
		jobs = append(jobs, job{cell: c, key: key})
	}
	// Seed by seed, so that an interrupted run has whole repetitions. The longest first
	// would balance better, but how long a cell takes is not known; unsharded ones are.
	slices.SortStableFunc(jobs, func(a, b job) int {
		return cmp.Or(cmp.Compare(a.cell.seed(), b.cell.seed()), a.cell.shards()-b.cell.shards())
	})
	return jobs, total, nil
}

// modelExists tells whether the trainer knows the cell's model.
func modelExists(c Cell) error {
	known, model := networks.Names(), c.settings().Model
	if c.Stream != nil {
		known = append(append(known, trainer.RowModels()...), trainer.Blend)
	}
	if c.Partition != nil || c.Attack != nil || slices.Contains(known, model) {
		return nil
	}
	return fmt.Errorf("%w: the trainer has no model %q", ErrAbsent, model)
}

// seed is the cell's; cells of all seeds make a table.
func (c Cell) seed() uint64 {
	if c.Attack != nil {
		return c.Attack.Seed
	}
	return c.settings().Seed
}

// shards is the number of shards of the cell's ensemble.
func (c Cell) shards() int {
	switch {
	case c.Graph != nil:
		return c.Graph.Shards
	case c.Stream != nil:
		return c.Stream.Shards
	default:
		return 0
	}
}

// board collects the results of cells that run side by side.
type board struct {
	runner      *Runner
	out         *Results
	partitions  protocol.Partitions
	ensembles   protocol.Ensembles
	mutex       sync.Mutex
	total, kept int
	done        int
	started     time.Time
}

// do measures one cell and keeps its result.
func (b *board) do(ctx context.Context, j job, workers int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r := b.runner
	started := r.Now()
	runtime := protocol.Runtime{Kernels: r.Kernels, Workers: workers, Now: r.Now, Used: r.Used}
	if j.cell.Partition == nil { // which takes the time of partitioning
		runtime.Partitions = &b.partitions
	}
	if j.cell.Unlearn != nil { // of which several in a row forget from the same ensemble
		runtime.Ensembles = &b.ensembles
	}
	result, err := r.measure(ctx, j.cell, runtime)
	if err != nil {
		return fmt.Errorf("%s: %w", j.cell, err)
	}
	result.Seconds = r.Now().Sub(started).Seconds()
	if err := r.Store.put(j.key, j.cell, result); err != nil {
		return err
	}
	b.mutex.Lock()
	b.out.keys[j.key] = result
	b.done++
	b.report(j.cell)
	b.mutex.Unlock()
	return nil
}

// report tells how far the work is. Whoever runs cells side by side holds the mutex.
func (b *board) report(last Cell) {
	p := Progress{Done: b.kept + b.done, Total: b.total, Kept: b.kept, Last: last}
	if b.done > 0 {
		spent := b.runner.Now().Sub(b.started)
		p.Left = time.Duration(float64(spent) / float64(b.done) * float64(b.total-b.kept-b.done))
	}
	b.runner.Progress(p)
}
