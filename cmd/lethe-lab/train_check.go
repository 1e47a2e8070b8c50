package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lethe/internal/command"
	"lethe/lab/graphs"
	"lethe/lab/protocol"
	"lethe/partition/repair"
	"lethe/trainer"
)

// check finds wrong use before the work.
func (c *trainCmd) check(kind graphs.Kind) error {
	switch {
	case c.Shards < 1:
		return command.Usagef("--shards is %d, must be at least 1", c.Shards)
	case !slices.Contains(trainer.StreamModels(), c.Model):
		return command.Usagef("--model is %q, must be one of %s", c.Model, strings.Join(trainer.StreamModels(), ", "))
	case c.Hidden < 0, c.Epochs < 0, c.Workers < 0:
		return command.Usagef("--hidden, --epochs and --workers must not be negative")
	case c.Window != nil && *c.Window < 1:
		return command.Usagef("--window is %d, must be at least 1", *c.Window)
	case c.Tau <= 0:
		return command.Usagef("--tau is %g, must be above 0", c.Tau)
	case c.TrainFraction < 0 || c.TrainFraction >= 1:
		return command.Usagef("--train-fraction is %g, must be above 0, below 1: the other nodes test", c.TrainFraction)
	case !(c.KnownLabels >= 0 && c.KnownLabels < 1):
		return command.Usagef("--known-labels is %g, must be at least 0, below 1: the others test", c.KnownLabels)
	}
	of := c.checkStream
	if kind == graphs.CitationArchive {
		of = c.checkGraph
	}
	for _, check := range []func() error{of, c.checkBlend, c.checkRows, c.checkCurves} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkGraph refuses what a graph does not have.
func (c *trainCmd) checkGraph() error {
	switch {
	case c.Split != "" || c.Schedule != protocol.Static:
		return command.Usagef("--split and --schedule need timesteps, and %s has none: use --train-fraction", c.Dataset)
	case c.OneHop || c.OneHopDirected:
		return command.Usagef("--one-hop and --one-hop-directed are for streams, and %s is a graph", c.Dataset)
	case c.KnownLabels != 0:
		return command.Usagef("--known-labels is for streams, and %s is a graph: with --propagate the labels of its "+
			"training nodes are known", c.Dataset)
	case !slices.Contains(trainer.Models(), c.Model):
		return command.Usagef("--model %s is for streams, and %s is a graph: choose one of %s", c.Model, c.Dataset,
			strings.Join(trainer.Models(), ", "))
	}
	return nil
}

// checkStream refuses what a stream does not have.
func (c *trainCmd) checkStream() error {
	var split protocol.StreamSplit
	if c.Split != "" {
		var err error
		if split, err = protocol.ParseSplit(c.Split); err != nil {
			return command.Usagef("--split: %w", err)
		}
	}
	switch {
	case c.TrainFraction != 0 || c.Transductive || c.RawFeatures:
		return command.Usagef("--train-fraction, --transductive and --raw-features are for graphs: use --split for timesteps")
	case c.Propagate && c.KnownLabels == 0:
		return command.Usagef("--propagate needs known labels in the graph that is scored, and none of a timestep is known " +
			"when it is scored: say with --known-labels which share had arrived")
	case c.Propagate && c.Split != "" && split.Validation == 0:
		return command.Usagef("--propagate needs validation timesteps, on which its settings are chosen, and --split %s "+
			"has none", c.Split)
	case c.OneHopDirected && !c.OneHop:
		return command.Usagef("--one-hop-directed needs --one-hop")
	case c.OneHop && c.Repair == repair.Truth:
		return command.Usagef("--one-hop does not go with --repair truth: both show a shard its true neighbours")
	}
	return nil
}

// checkRows checks what goes with models that look at rows.
func (c *trainCmd) checkRows() error {
	if !slices.Contains(trainer.RowModels(), c.Model) {
		return nil
	}
	if c.Schedule == protocol.Continual {
		return command.Usagef("--schedule is continual, must be static or window for --model %s, which is fitted anew "+
			"every time", c.Model)
	}
	if c.shapesNetworks() {
		return command.Usagef("--hidden, --epochs, --learning-rate and --weight-decay shape networks, and --model %s is none",
			c.Model)
	}
	return nil
}

// shapesNetworks tells whether a flag is set that means something to networks
// alone.
func (c *trainCmd) shapesNetworks() bool {
	return c.Hidden != 0 || c.Epochs != 0 || c.LearningRate != 0 || c.WeightDecay != 0
}

// checkCurves finds out before the work whether its result can be drawn.
func (c *trainCmd) checkCurves() error {
	if c.Curves == "" {
		return nil
	}
	if ending := strings.ToLower(filepath.Ext(c.Curves)); ending != ".svg" && ending != ".png" {
		return command.Usagef("--curves %s must end in .svg or .png", c.Curves)
	}
	if info, err := os.Stat(filepath.Dir(c.Curves)); err != nil || !info.IsDir() {
		return command.Usagef("--curves %s cannot be written: there is no such folder (make it first)", c.Curves)
	}
	return nil
}
