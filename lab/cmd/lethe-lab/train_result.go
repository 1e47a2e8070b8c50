package main

import (
	"fmt"
	"strconv"
	"strings"

	"lethe"
	"lethe/internal/command"
	"lethe/lab/propagation"
	"lethe/lab/protocol"
	"lethe/partition/onehop"
	"lethe/scoring/quality"
)

type trainResult struct {
	Model      string   `json:"model"`
	Components []string `json:"components,omitempty"`
	Shards     int      `json:"shards"`
	Method     string   `json:"method"`
	Repair     string   `json:"repair"`
	MinStubs   int      `json:"min_stubs"`
	// OneHop is what is joined to rows: nothing, undirected or directed.
	OneHop      string  `json:"one_hop,omitempty"`
	Aggregate   string  `json:"aggregate"`
	Propagated  bool    `json:"propagated"`
	KnownLabels float64 `json:"known_labels,omitempty"`
	// Propagation is how labels were propagated on a stream, Unpropagated the test
	// without it, and Unlabelled that with the same settings and no known label.
	Propagation      *propagation.Choice    `json:"propagation,omitempty"`
	Unpropagated     *quality.Summary       `json:"unpropagated,omitempty"`
	Unlabelled       *quality.Summary       `json:"unlabelled,omitempty"`
	Seed             uint64                 `json:"seed"`
	Test             quality.Summary        `json:"test"`
	AllNodes         trainAccuracy          `json:"all_nodes"`
	PerStep          []protocol.StepReading `json:"per_step"`
	Partition        protocol.Shape         `json:"partition"`
	TrainSeconds     float64                `json:"train_seconds"`
	Steps            int                    `json:"steps"`
	StepsPerSecond   float64                `json:"steps_per_second"`
	PartitionSeconds float64                `json:"partition_seconds"`
	EnsembleHash     lethe.Digest           `json:"ensemble_hash"`
}

type trainAccuracy struct {
	Accuracy float64 `json:"accuracy"`
}

func newTrainResult(c *trainCmd, o *protocol.Outcome) *trainResult {
	reading, _ := o.Reading(c.Aggregate, c.Propagate)
	r := &trainResult{
		Model: c.Model, Components: c.Components, Shards: c.Shards, Method: c.Method, Repair: c.Repair, MinStubs: *c.MinStubs,
		Aggregate:  c.Aggregate,
		Propagated: c.Propagate, KnownLabels: c.KnownLabels, Propagation: reading.Propagation, Seed: c.Seed,
		Test: reading.Test, AllNodes: trainAccuracy{reading.AllNodes}, PerStep: reading.PerStep,
		Partition: o.Shape, TrainSeconds: o.TrainSeconds, Steps: o.Steps, PartitionSeconds: o.PartitionSeconds,
		EnsembleHash: o.EnsembleHash,
	}
	if mode := onehop.ModeOf(c.OneHop, c.OneHopDirected); mode != onehop.None {
		r.OneHop = mode.String()
	}
	if plain, ok := o.Reading(c.Aggregate, false); ok && c.Propagate {
		r.Unpropagated = &plain.Test
	}
	if control, ok := o.Control(c.Aggregate); ok {
		r.Unlabelled = &control.Test
	}
	if r.PerStep == nil {
		r.PerStep = []protocol.StepReading{}
	}
	if o.TrainSeconds > 0 {
		r.StepsPerSecond = float64(o.Steps) / o.TrainSeconds
	}
	return r
}

func (r *trainResult) print(a *command.App) error {
	if len(r.PerStep) > 0 {
		rows := [][]string{{"timestep", "part", "labelled", "illicit", "AUC", "average precision", "macro-F1", "illicit-F1"}}
		for _, s := range r.PerStep {
			rows = append(rows, []string{
				strconv.FormatInt(int64(s.Timestep), 10), s.Part, strconv.Itoa(s.Labelled), strconv.Itoa(s.Illicit),
				command.OrDash(s.AUC), command.OrDash(s.AveragePrecision),
				fmt.Sprintf("%.3f", s.MacroF1), fmt.Sprintf("%.3f", s.IllicitF1),
			})
		}
		if err := command.Table(a.Stdout, rows); err != nil {
			return err
		}
		fmt.Fprintln(a.Stdout)
	}
	fmt.Fprintf(a.Stdout, "%s, %d shards by %s (%.3f of the edges cut), repair %s with at least %d stubs a node, "+
		"aggregation %s\n",
		r.modelText(), r.Shards, r.Method, r.Partition.EdgeCut, r.Repair, r.MinStubs, r.Aggregate)
	if r.KnownLabels > 0 {
		fmt.Fprintf(a.Stdout, "%g of every timestep's labels had arrived when it was scored and are not measured\n",
			r.KnownLabels)
	}
	if r.Unpropagated != nil {
		printTest(a, "without propagation", *r.Unpropagated)
	}
	if p := r.Propagation; p != nil {
		fmt.Fprintf(a.Stdout, "propagation: %s (average precision %.4f on %d validation labels, %.4f without)\n", p.Options,
			p.Measure, p.Hidden, p.Without)
	}
	if r.Unlabelled != nil {
		printTest(a, "the same without the known labels", *r.Unlabelled)
	}
	printTest(a, "test", r.Test)
	fmt.Fprintf(a.Stdout, "all nodes: accuracy %.4f\n", r.AllNodes.Accuracy)
	fmt.Fprintf(a.Stdout, "%d steps in %.1f s (%.0f a second); ensemble %s\n", r.Steps, r.TrainSeconds, r.StepsPerSecond,
		r.EnsembleHash)
	return nil
}

// modelText names the model, of a blend also its models, and what is joined to
// the rows.
func (r *trainResult) modelText() string {
	text := r.Model
	if len(r.Components) > 0 {
		text += " of " + strings.Join(r.Components, ", ")
	}
	if r.OneHop != "" {
		text += ", " + r.OneHop + " one-hop features"
	}
	return text
}

// printTest prints what was measured on the test nodes or timesteps.
func printTest(a *command.App, name string, s quality.Summary) {
	fmt.Fprintf(a.Stdout, "%s: accuracy %.4f, macro-F1 %.4f, AUC %s, average precision %s (%d labelled)\n",
		name, s.Accuracy, s.MacroF1, command.OrDash(s.AUC), command.OrDash(s.AveragePrecision), s.Labelled)
	if s.Illicit > 0 {
		fmt.Fprintf(a.Stdout, "illicit: F1 %.4f, precision %.4f, recall %.4f (%d labelled)\n",
			s.IllicitF1, s.Precision, s.Recall, s.Illicit)
	}
}
