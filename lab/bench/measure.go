package bench

import (
	"context"
	"fmt"

	"lethe/lab/protocol"
)

// measure does the work of one cell.
func (r *Runner) measure(ctx context.Context, c Cell, runtime protocol.Runtime) (Result, error) {
	if c.Stream != nil {
		stream, err := r.Data.stream(ctx, c.Dataset)
		if err != nil {
			return Result{}, err
		}
		outcome, err := protocol.RunStream(ctx, stream, *c.Stream, runtime)
		return Result{Outcome: outcome}, err
	}
	if c.Attack != nil {
		stream, err := r.Data.stream(ctx, c.Dataset)
		if err != nil {
			return Result{}, err
		}
		found, err := c.Attack.run(ctx, stream)
		return Result{Attack: found}, err
	}
	s := c.settings()
	if c.Partition != nil && isStream(c.Dataset) {
		stream, err := r.Data.stream(ctx, c.Dataset)
		if err != nil {
			return Result{}, err
		}
		outcome, err := protocol.PartitionStream(ctx, stream, s, runtime)
		return Result{Outcome: outcome}, err
	}
	g, err := r.Data.graph(c.Dataset, s.RawFeatures)
	if err != nil {
		return Result{}, err
	}
	var result Result
	switch {
	case c.Partition != nil:
		result.Outcome, err = protocol.PartitionGraph(ctx, g, s, runtime)
	case c.Unlearn != nil:
		result.Unlearning, err = protocol.Forget(ctx, g, s, c.Unlearn.request(), runtime)
	case c.Membership != nil:
		result.Membership, err = protocol.Infer(ctx, g, s, c.Membership.request(), runtime)
	default:
		result.Outcome, err = protocol.RunGraph(ctx, g, s, runtime)
	}
	return result, err
}

func (c UnlearnCell) request() protocol.Request {
	return protocol.Request{Batch: c.Batch, Scope: c.Scope}
}

// settings are those of any cell but an attack, which brings its own.
func (c Cell) settings() protocol.Settings {
	switch {
	case c.Graph != nil:
		return *c.Graph
	case c.Partition != nil:
		return c.Partition.Settings
	case c.Unlearn != nil:
		return c.Unlearn.Settings
	case c.Membership != nil:
		return c.Membership.Settings
	case c.Stream != nil:
		return c.Stream.Settings
	default:
		return protocol.Settings{}
	}
}

// String describes a cell in a progress line or an error.
func (c Cell) String() string {
	if c.Attack != nil {
		return fmt.Sprintf("attacks on %s, seed %d", c.Dataset, c.Attack.Seed)
	}
	s := c.settings()
	text := fmt.Sprintf("%s, %s, %d shards by %s, seed %d", c.Dataset, s.Model, max(1, s.Shards), s.Partition.Method,
		s.Seed)
	switch {
	case c.Partition != nil:
		return fmt.Sprintf("partition of %s by %s, seed %d", c.Dataset, s.Partition.Method, s.Seed)
	case c.Unlearn != nil:
		return fmt.Sprintf("forgetting %d nodes, %s", c.Unlearn.Batch, text)
	case c.Membership != nil:
		return fmt.Sprintf("attacks on %d forgotten nodes, %s", c.Membership.Batch, text)
	default:
		return text
	}
}

func isStream(name string) bool { return name == Elliptic || name == BitcoinOTC }
