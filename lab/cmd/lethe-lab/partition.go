package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"lethe"
	"lethe/internal/command"
	"lethe/lab/baselines"
	"lethe/lab/graphs"
	"lethe/partition"
	"lethe/partition/graph"
)

type partitionCmd struct {
	Dataset       string  `help:"${any_dataset}" required:"" type:"path" placeholder:"PATH"`
	Shards        int     `help:"${graph_shards}" required:"" placeholder:"V"`
	Method        string  `help:"Partition by ${enum}." enum:"${partitions}" default:"${cut_method_default}"`
	Seed          uint64  `help:"${cut_seed}" default:"1"`
	TrainFraction float64 `help:"Partition the graph induced on this fraction of the nodes." default:"1" placeholder:"F"`
	Refine        bool    `help:"${refine}" default:"${cut_refine_default}" negatable:""`
	Slack         int     `help:"${cut_slack}" default:"${cut_slack_default}" placeholder:"N"`
	Assign        string  `help:"${cut_assign} One of ${enum}." enum:"${assigns}" default:"${cut_assign_default}"`
	Alpha         float64 `help:"${partition_alpha}" placeholder:"A"`
	Beta          float64 `help:"${cut_beta} 0 takes ${cut_beta_default}." placeholder:"B"`
	Sweeps        int     `help:"${cut_sweeps} 0 takes the method's default." placeholder:"N"`
	Unnormalised  bool    `help:"${cut_unnormalised}"`
	Tune          bool    `help:"${partition_tune}"`
	Assignments   string  `help:"Write id,timestep,shard of every node to this CSV file." type:"path" placeholder:"FILE"`
	Plot          string  `help:"${partition_plot}" type:"path" placeholder:"FILE"`
	JSON          bool    `help:"Print one JSON document."`
}

// Help shows an example.
func (partitionCmd) Help() string {
	return `Example:
  lethe-lab partition --dataset stream --shards 20 --plot shards.svg

Balance and fairness are defined as in the paper: 0 is best. "edge_cut" is the fraction of edges
between shards. "stubs" is the mean number of shards that the erasure of one node affects at scope
stubs.`
}

// Run partitions every timestep.
func (c *partitionCmd) Run(a *command.App) error {
	if err := c.check(); err != nil {
		return err
	}
	all, err := graphs.Load(a.Context, c.Dataset)
	if err != nil {
		return err
	}
	result := &partitionResult{Method: c.Method, Shards: c.Shards, Steps: []partitionStep{}}
	rows := [][]string{{"id", "timestep", "shard"}}
	p := command.NewProgress(a.Stderr)
	for i, g := range all {
		g = g.Induce(c.TrainFraction, c.Seed)
		step, assignment, err := c.one(a.Context, g)
		if err != nil {
			return fmt.Errorf("timestep %d: %w", g.Timestep, err)
		}
		result.add(step)
		for node, shard := range assignment {
			rows = append(rows, []string{g.ID(node), strconv.FormatInt(int64(g.Timestep), 10),
				strconv.FormatUint(uint64(shard), 10)})
		}
		if len(all) > 1 {
			p.Show("timestep %d (%d of %d)", g.Timestep, i+1, len(all))
		}
	}
	result.mean()
	if c.Assignments != "" {
		if err := writeCSV(c.Assignments, rows); err != nil {
			return err
		}
	}
	if c.Plot != "" {
		if err := plotShards(c.Plot, result.Steps, classNames(all)); err != nil {
			return err
		}
	}
	if c.JSON {
		return a.PrintJSON(result)
	}
	return result.print(a)
}

// check finds out before the work whether it can be done and its result written.
func (c *partitionCmd) check() error {
	switch {
	case !(c.TrainFraction > 0 && c.TrainFraction <= 1):
		return command.Usagef("--train-fraction is %g, must be above 0, at most 1", c.TrainFraction)
	case c.Tune && !c.config().UsesGPFB():
		return command.Usagef("--tune with --method %s, which has no alpha: use it with %s or %s", c.Method,
			partition.MethodGPFBFast, baselines.MethodGPFBSR)
	case c.Slack > 0 && !c.refines():
		return command.Usagef("--slack %d without refinement, which alone makes use of it: leave out --refine=false, "+
			"--assign plain and --method %s, %s",
			c.Slack, baselines.MethodBLPA, baselines.MethodBEKM)
	case c.Plot != "" && !plotFormat(c.Plot):
		return command.Usagef("--plot %s must end in .svg or .png", filepath.Base(c.Plot))
	}
	if err := c.config().Validate(); err != nil {
		return command.WrongFlags(err)
	}
	if err := checkWritable("--assignments", c.Assignments); err != nil {
		return err
	}
	return checkWritable("--plot", c.Plot)
}

// refines reports whether shards are even, so that refinement runs.
func (c *partitionCmd) refines() bool {
	return c.Refine && (c.config().UsesGPFB() && c.Assign == baselines.AssignQuotas || c.Method == partition.MethodRandom)
}

func (c *partitionCmd) config() baselines.Config {
	out := baselines.DefaultsOf(c.Method)
	out.Shards, out.Seed, out.Refine, out.Slack, out.Assign = c.Shards, c.Seed, c.Refine, c.Slack, c.Assign
	out.Beta, out.Sweeps = cmp.Or(c.Beta, out.Beta), cmp.Or(c.Sweeps, out.Sweeps)
	out.Unnormalised = c.Unnormalised
	if c.Alpha != 0 {
		out.Config = out.WithAlpha(c.Alpha)
	}
	return out
}

// classNames names the classes of transactions by their labels, those of citation
// graphs by their numbers.
func classNames(all []*graphs.Graph) func(int) string {
	if len(all) > 0 && all[0].IDs == nil {
		return strconv.Itoa
	}
	return func(class int) string { return lethe.Label(class).String() }
}

// checkWritable reports a path, if there is one, that cannot be written.
func checkWritable(flag, path string) error {
	if path == "" {
		return nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s %s is a folder: name a file", flag, path)
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return fmt.Errorf("%s %s cannot be written: there is no such folder (make it first)", flag, path)
	}
	return nil
}

// one partitions one graph; the time is that of the partition alone, tuning
// included.
func (c *partitionCmd) one(ctx context.Context, g *graphs.Graph) (partitionStep, graph.Assignment, error) {
	graph, err := graph.New(g.NumNodes(), g.Edges, g.Classes, g.NumClasses)
	if err != nil {
		return partitionStep{}, nil, err
	}
	config := c.config()
	config.Timestep = g.Timestep
	started := time.Now()
	if c.Tune {
		if config, err = tune(ctx, graph, config); err != nil {
			return partitionStep{}, nil, err
		}
	}
	assignment, report, err := baselines.Run(ctx, graph, config)
	if err != nil {
		return partitionStep{}, nil, err
	}
	return newPartitionStep(g.Timestep, report, time.Since(started)), assignment, nil
}
