package main

import (
	"cmp"
	"path/filepath"
	"runtime"
	"strings"

	"lethe/dataset"
	"lethe/internal/command"
	"lethe/lab/citation"
	"lethe/lab/curves"
	"lethe/lab/graphs"
	"lethe/lab/protocol"
	"lethe/trainer"
	"lethe/trainer/kernels"
)

type trainCmd struct {
	Dataset        string   `help:"Folder with Elliptic's CSV files, or a citation .npz." required:"" type:"path" placeholder:"PATH"`
	Shards         int      `help:"Number of shards." required:"" placeholder:"V"`
	Model          string   `help:"Shard model, one of ${models}." required:""`
	Components     []string `help:"Models of a blend, with commas; by default ${components}." placeholder:"M,M"`
	Hidden         int      `help:"Width of the model; the default is the model's own." placeholder:"N"`
	Epochs         int      `help:"Passes over the training data; by default 200 on a graph, on a stream 60 (static), 3 (continual) or 10 (window)." placeholder:"N"`
	LearningRate   float64  `help:"Adam's step; by default .01 on a graph (sgc .1), .003 on a stream." placeholder:"R"`
	WeightDecay    float64  `help:"Adam's L2 coefficient; by default 5e-4 on a graph, 1e-5 on a stream." placeholder:"W"`
	Method         string   `help:"Partition by ${enum}." enum:"${partitions}" default:"gpfb-fast"`
	Assign         string   `help:"How gpfb and random end: ${enum}. plain is the paper's end, without a promise of balance." enum:"quotas,plain" default:"quotas"`
	Refine         bool     `help:"Lower the cut by swaps; never for blpa, bekm and --assign plain." default:"true" negatable:""`
	Repair         string   `help:"Repair cut neighbourhoods by ${enum}; truth is for the paper's ablation only." enum:"none,zero,mirror,mixup,truth" default:"mixup"`
	Tau            float64  `help:"Bound of mixup's factor." default:"1" placeholder:"T"`
	MinStubs       *int     `help:"Least number of stubs per node; by default 4 (gin 1) on a graph in shards, 0 on a stream." placeholder:"K"`
	OneHop         bool     `help:"Join the mean of all neighbours' features and the log degree to every row (streams only)."`
	OneHopDirected bool     `help:"Keep the means of payers and of payees apart; needs --one-hop."`
	Aggregate      string   `help:"Combine the shards by ${enum}." enum:"${aggregations}" default:"mean"`
	Propagate      bool     `help:"Propagate the known labels over the graph when scoring; on a stream those of --known-labels."`
	KnownLabels    float64  `help:"Share of every timestep's labels that had arrived when it was scored; they are not measured (streams only)." placeholder:"F"`
	TrainFraction  float64  `help:"Share of the nodes that trains, on a graph; .8 by default." placeholder:"F"`
	Transductive   bool     `help:"Let training see the test nodes without their labels (graphs only)."`
	RawFeatures    bool     `help:"Leave the feature rows as they are instead of dividing them by their sums (graphs only)."`
	Split          string   `help:"Timesteps that train, validate and test, on a stream; 30/4/15 where there are 49." placeholder:"A/B/C"`
	Schedule       string   `help:"On a stream: ${enum}. Static trains on the first timesteps only; the others score each timestep, then learn from it: continual goes on from the last weights, window begins anew." enum:"static,continual,window" default:"static"`
	Window         *int     `help:"Timesteps that continual and window look back; by default 10, and 1000 for blend and what looks at rows." placeholder:"N"`
	Seed           uint64   `help:"Seed of the split and of every draw." default:"1"`
	Workers        int      `help:"Shards that train side by side; by default one per processor. The result does not depend on it." placeholder:"N"`
	Curves         string   `help:"Draw the training losses into this .svg or .png file." type:"path" placeholder:"FILE"`
	JSON           bool     `help:"Print one JSON document."`
}

// Help shows an example.
func (trainCmd) Help() string {
	return `Example:
  lethe-lab train --dataset cora.npz --shards 20 --model sage --propagate
  lethe-lab train --dataset elliptic_bitcoin_dataset --shards 20 --model elliptic-gin --schedule continual
  lethe-lab train --dataset elliptic_bitcoin_dataset --shards 20 --model logistic --schedule window \
      --one-hop --one-hop-directed
  lethe-lab train --dataset elliptic_bitcoin_dataset --shards 20 --model blend --schedule continual \
      --components logistic,trees --one-hop

Trains a model per shard and measures their ensemble, offline. A graph is split
into training and test nodes: training sees the graph of the training nodes, the
test is on the graph of all nodes. Of a stream, the first timesteps train and the
last test.

These models look at one row at a time: ` + strings.Join(trainer.RowModels(), ", ") + `. They are for
streams, and neighbours reach them through --one-hop. A blend asks several models
per shard and trusts each by how it did on the timesteps so far; under static all
alike.

On a stream no label of a timestep is known when it is scored, unless --known-labels
says which share had arrived. --propagate spreads these over the timestep's graph,
with settings chosen on the validation timesteps.`
}

// Run trains and measures.
func (c *trainCmd) Run(a *command.App) error {
	kind, err := graphs.Detect(c.Dataset)
	if err != nil {
		return err
	}
	if err := c.check(kind); err != nil {
		return err
	}
	if err := c.fillMinStubs(kind); err != nil {
		return err
	}
	c.fillComponents()
	job := &trainJob{trainCmd: c, line: newTrainLine(a)}
	if c.Curves != "" {
		axis := curves.Epochs
		if kind == graphs.Elliptic && c.Schedule != protocol.Static {
			axis = curves.Timesteps
		}
		job.recorder = curves.NewRecorder(axis)
	}
	if kind == graphs.CitationArchive {
		err = job.graph(a)
	} else {
		err = job.stream(a)
	}
	if err != nil {
		return err
	}
	if err := job.draw(); err != nil {
		return err
	}
	result := newTrainResult(c, job.outcome)
	if c.JSON {
		return a.PrintJSON(result)
	}
	return result.print(a)
}

// settings are the flags that graphs and streams share; those that are not given
// leave the default.
func (c *trainCmd) settings(s protocol.Settings) protocol.Settings {
	s.Epochs, s.LearningRate = cmp.Or(c.Epochs, s.Epochs), cmp.Or(c.LearningRate, s.LearningRate)
	s.WeightDecay, s.TrainFraction = cmp.Or(c.WeightDecay, s.WeightDecay), cmp.Or(c.TrainFraction, s.TrainFraction)
	if len(c.Components) > 0 {
		s.Components = c.Components
	}
	s.Hidden, s.Shards, s.Seed = c.Hidden, c.Shards, c.Seed
	s.Partition = protocol.Partition{Method: c.Method, Assign: c.Assign, Refine: c.Refine}
	s.Repair, s.Tau, s.MinStubs = c.Repair, c.Tau, *c.MinStubs
	s.OneHop, s.OneHopDirected = c.OneHop, c.OneHopDirected
	s.Aggregate, s.Propagate = []string{c.Aggregate}, c.Propagate
	s.Transductive, s.RawFeatures = c.Transductive, c.RawFeatures
	return s
}

// trainJob is one run of the command.
type trainJob struct {
	*trainCmd
	line     *trainLine
	recorder *curves.Recorder
	outcome  *protocol.Outcome
}

func (j *trainJob) graph(a *command.App) error {
	archive, err := citation.Load(j.Dataset)
	if err != nil {
		return err
	}
	s := j.settings(protocol.Defaults(j.Model))
	j.line.expect(s.ExpectedSteps(), s.Shards)
	j.outcome, err = protocol.RunGraph(a.Context, protocol.FromCitation(archive, j.RawFeatures), s, j.runtime())
	return err
}

func (j *trainJob) stream(a *command.App) error {
	stream, err := dataset.LoadElliptic(a.Context, j.Dataset)
	if err != nil {
		return err
	}
	s := protocol.StreamDefaults(j.Model, j.Schedule, protocol.SplitFor(len(stream.Steps)))
	s.Settings, s.KnownLabels = j.settings(s.Settings), j.KnownLabels
	if j.Window != nil {
		s.WindowTimesteps = *j.Window
	}
	if j.Split != "" {
		if s.Split, err = protocol.ParseSplit(j.Split); err != nil {
			return err
		}
	}
	j.line.expect(s.ExpectedSteps(), s.Shards)
	j.outcome, err = protocol.RunStream(a.Context, stream, s, j.runtime())
	return err
}

func (j *trainJob) runtime() protocol.Runtime {
	workers := j.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return protocol.Runtime{Kernels: kernels.Default(), Workers: workers, Epoch: func(e protocol.Epoch) {
		j.line.epoch(e)
		if j.recorder != nil {
			j.recorder.Epoch(e)
		}
	}}
}

// draw saves the learning curves, if they were asked for.
func (j *trainJob) draw() error {
	j.line.done()
	if j.recorder == nil {
		return nil
	}
	return j.recorder.Figure(j.Model + " on " + strings.TrimSuffix(filepath.Base(j.Dataset), ".npz")).Save(j.Curves)
}
