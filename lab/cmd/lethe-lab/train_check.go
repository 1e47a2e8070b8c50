package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lethe/internal/check"
	"lethe/internal/command"
	"lethe/lab/graphs"
	"lethe/lab/networks"
	"lethe/lab/protocol"
	"lethe/partition/repair"
	"lethe/trainer"
)

// check finds wrong use before the work.
func (c *trainCmd) check(kind graphs.Kind) error {
	if err := c.checkBounds(); err != nil {
		return command.WrongFlags(err)
	}
	of := c.checkStream
	if kind == graphs.CitationArchive {
		of = c.checkGraph
	}
	for _, holds := range []func() error{of, c.checkBlend, c.checkRows, c.checkCurves} {
		if err := holds(); err != nil {
			return err
		}
	}
	return nil
}

// checkBounds reports every flag that is out of bounds by itself. Numbers of which
// 0 takes the default are bounded here by what the trainer takes.
func (c *trainCmd) checkBounds() error {
	var p check.Problems
	p.AtLeast("shards", c.Shards, 1)
	p.OneOf("model", c.Model, allModels()...)
	p.AtLeast("hidden", c.Hidden, 0)
	p.AtLeast("epochs", c.Epochs, 0)
	p.AtLeast("workers", c.Workers, 0)
	p.Number("learning_rate", c.LearningRate, 0, 10)
	p.Number("weight_decay", c.WeightDecay, 0, 10)
	if c.Window != nil {
		p.AtLeast("window", *c.Window, 1)
	}
	p = append(p, check.Of(repair.Config{Method: repair.MixUp, Tau: c.Tau}.Validate())...)
	p.Below("train_fraction", c.TrainFraction, 0, 1)
	p.Below("known_labels", c.KnownLabels, 0, 1)
	return p.Err()
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
	case !slices.Contains(networks.Names(), c.Model):
		return command.Usagef("--model %s is for streams, and %s is a graph: choose one of %s", c.Model, c.Dataset,
			strings.Join(networks.Names(), ", "))
	}
	return nil
}

// checkStream refuses what a stream does not have, and what the protocol refuses that
// needs no stream to see.
func (c *trainCmd) checkStream() error {
	s := protocol.StreamDefaults(c.Model, c.Schedule, protocol.EllipticSplit())
	s.Propagate, s.KnownLabels = c.Propagate, c.KnownLabels
	if c.Split != "" {
		var err error
		if s.Split, err = protocol.ParseSplit(c.Split); err != nil {
			return command.Usagef("--split: %w", err)
		}
	}
	switch {
	case c.TrainFraction != 0 || c.Transductive || c.SharedTest || c.RawFeatures:
		return command.Usagef("--train-fraction, --transductive, --shared-test and --raw-features are for graphs: " +
			"use --split for timesteps")
	case c.Propagate && c.KnownLabels == 0:
		return command.Usagef("--propagate needs known labels in the graph that is scored, and none of a timestep is known " +
			"when it is scored: say with --known-labels which share had arrived")
	case c.OneHopDirected && !c.OneHop:
		return command.Usagef("--one-hop-directed needs --one-hop")
	case c.OneHop && c.Repair == protocol.RepairTruth:
		return command.Usagef("--one-hop does not go with --repair truth: both show a shard its true neighbours")
	}
	if err := s.Validate(); err != nil {
		return command.WrongFlags(err)
	}
	return nil
}

// checkRows checks what goes with models that look at rows.
func (c *trainCmd) checkRows() error {
	if !slices.Contains(trainer.RowModels(), c.Model) {
		return nil
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
	if c.Resume != "" {
		return command.Usagef("--curves needs the losses of every step, and --resume keeps none: leave one of them out")
	}
	if info, err := os.Stat(filepath.Dir(c.Curves)); err != nil || !info.IsDir() {
		return command.Usagef("--curves %s cannot be written: there is no such folder (make it first)", c.Curves)
	}
	return nil
}
