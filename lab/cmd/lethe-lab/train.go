package main

import (
	"cmp"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"lethe/dataset"
	"lethe/internal/command"
	"lethe/lab/checkpoints"
	"lethe/lab/citation"
	"lethe/lab/curves"
	"lethe/lab/graphs"
	"lethe/lab/protocol"
	"lethe/trainer"
	"lethe/trainer/kernels"
)

type trainCmd struct {
	Dataset        string   `help:"${any_dataset}" required:"" type:"path" placeholder:"PATH"`
	Shards         int      `help:"${graph_shards}" required:"" placeholder:"V"`
	Model          string   `help:"${graph_model} One of ${models}." required:"" placeholder:"MODEL"`
	Components     []string `help:"${graph_components} By default ${components}." placeholder:"M,M"`
	Hidden         int      `help:"${graph_hidden} By default the model's own." placeholder:"N"`
	Epochs         int      `help:"${train_epochs}" placeholder:"N"`
	LearningRate   float64  `help:"${train_learning_rate}" placeholder:"R"`
	WeightDecay    float64  `help:"${train_weight_decay}" placeholder:"W"`
	Method         string   `help:"Partition by ${enum}." enum:"${partitions}" default:"${cut_method_default}"`
	Assign         string   `help:"${cut_assign} One of ${enum}." enum:"${assigns}" default:"${cut_assign_default}"`
	Refine         bool     `help:"${refine}" default:"${cut_refine_default}" negatable:""`
	Repair         string   `help:"${train_repair}" enum:"${repairs}" default:"${mend_method_default}"`
	Tau            float64  `help:"${mend_tau}" default:"${mend_tau_default}" placeholder:"T"`
	MinStubs       *int     `help:"${train_min_stubs}" placeholder:"K"`
	OneHop         bool     `help:"${graph_one_hop} For streams."`
	OneHopDirected bool     `help:"${graph_one_hop_directed} Needs --one-hop."`
	Aggregate      string   `help:"How the shards are combined: ${enum}." enum:"${aggregations}" default:"mean"`
	Propagate      bool     `help:"${graph_propagate} On a stream those of --known-labels."`
	KnownLabels    float64  `help:"${static_known_labels} For streams." placeholder:"F"`
	TrainFraction  float64  `help:"${train_train_fraction}" placeholder:"F"`
	Transductive   bool     `help:"${graph_transductive} For graphs."`
	SharedTest     bool     `help:"${graph_shared_test} Needs --transductive."`
	RawFeatures    bool     `help:"${graph_raw_features} For graphs."`
	Split          string   `help:"${train_split}" placeholder:"A/B/C"`
	Schedule       string   `help:"${static_schedule} One of ${enum}. For streams." enum:"${schedules}" default:"static"`
	Window         *int     `help:"${train_window}" placeholder:"N"`
	Seed           uint64   `help:"${graph_seed}" default:"1"`
	Workers        int      `help:"${train_workers}" placeholder:"N"`
	Resume         string   `help:"${train_resume}" type:"path" placeholder:"DIR"`
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

It trains a model per shard and measures their ensemble, offline. A graph is split into training and
test nodes: training sees the graph of the training nodes, the test the graph of all nodes. Of a
stream, the first timesteps train and the last test.

These models look at one row at a time: ` + strings.Join(trainer.RowModels(), ", ") + `. They are for streams,
and neighbours reach them through --one-hop. A blend combines several models per shard and weights each by its
results on the timesteps so far; with schedule static all have the same weight.

On a stream no label of a timestep is known when it is scored, unless --known-labels sets the share
that has arrived. --propagate spreads these over the graph of the timestep, with settings chosen on
the validation timesteps.

With --resume an interrupted run continues with the shards that it had not trained. Apart from the
seconds its result is that of an uninterrupted run.`
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
	s.Transductive, s.SharedTest, s.RawFeatures = c.Transductive, c.SharedTest, c.RawFeatures
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
	r := protocol.Runtime{Kernels: kernels.Default(), Workers: workers, Now: time.Now, Epoch: func(e protocol.Epoch) {
		j.line.epoch(e)
		if j.recorder != nil {
			j.recorder.Epoch(e)
		}
	}}
	if j.Resume != "" {
		r.Checkpoints, r.Resumed = checkpoints.Folder(j.Resume), j.line.resumed
	}
	return r
}

// draw saves the learning curves, if they were asked for.
func (j *trainJob) draw() error {
	j.line.done()
	if j.recorder == nil {
		return nil
	}
	return j.recorder.Figure(j.Model + " on " + strings.TrimSuffix(filepath.Base(j.Dataset), ".npz")).Save(j.Curves)
}
