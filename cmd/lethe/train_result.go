package main

import (
	"fmt"
	"strconv"

	"lethe"
	"lethe/evaluation/protocol"
	"lethe/scoring"
)

type trainResult struct {
	Model            string                 `json:"model"`
	Shards           int                    `json:"shards"`
	Method           string                 `json:"method"`
	Repair           string                 `json:"repair"`
	MinStubs         int                    `json:"min_stubs"`
	Aggregate        string                 `json:"aggregate"`
	Propagated       bool                   `json:"propagated"`
	Seed             uint64                 `json:"seed"`
	Test             scoring.Summary        `json:"test"`
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
		Model: c.Model, Shards: c.Shards, Method: c.Method, Repair: c.Repair, MinStubs: *c.MinStubs, Aggregate: c.Aggregate,
		Propagated: c.Propagate, Seed: c.Seed,
		Test: reading.Test, AllNodes: trainAccuracy{reading.AllNodes}, PerStep: reading.PerStep,
		Partition: o.Shape, TrainSeconds: o.TrainSeconds, Steps: o.Steps, PartitionSeconds: o.PartitionSeconds,
		EnsembleHash: o.EnsembleHash,
	}
	if r.PerStep == nil {
		r.PerStep = []protocol.StepReading{}
	}
	if o.TrainSeconds > 0 {
		r.StepsPerSecond = float64(o.Steps) / o.TrainSeconds
	}
	return r
}

func (r *trainResult) print(a *app) error {
	if len(r.PerStep) > 0 {
		rows := [][]string{{"timestep", "part", "labelled", "illicit", "AUC", "average precision", "macro-F1", "illicit-F1"}}
		for _, s := range r.PerStep {
			rows = append(rows, []string{
				strconv.FormatInt(int64(s.Timestep), 10), s.Part, strconv.Itoa(s.Labelled), strconv.Itoa(s.Illicit),
				orDash(s.AUC), orDash(s.AveragePrecision), fmt.Sprintf("%.3f", s.MacroF1), fmt.Sprintf("%.3f", s.IllicitF1),
			})
		}
		if err := table(a.stdout, rows); err != nil {
			return err
		}
		fmt.Fprintln(a.stdout)
	}
	fmt.Fprintf(a.stdout, "%s, %d shards by %s (%.3f of the edges cut), repair %s with at least %d stubs a node, aggregation %s\n",
		r.Model, r.Shards, r.Method, r.Partition.EdgeCut, r.Repair, r.MinStubs, r.Aggregate)
	fmt.Fprintf(a.stdout, "test: accuracy %.4f, macro-F1 %.4f, AUC %s, average precision %s (%d labelled)\n",
		r.Test.Accuracy, r.Test.MacroF1, orDash(r.Test.AUC), orDash(r.Test.AveragePrecision), r.Test.Labelled)
	if r.Test.Illicit > 0 {
		fmt.Fprintf(a.stdout, "illicit: F1 %.4f, precision %.4f, recall %.4f (%d labelled)\n",
			r.Test.IllicitF1, r.Test.Precision, r.Test.Recall, r.Test.Illicit)
	}
	fmt.Fprintf(a.stdout, "all nodes: accuracy %.4f\n", r.AllNodes.Accuracy)
	fmt.Fprintf(a.stdout, "%d steps in %.1f s (%.0f a second); ensemble %s\n", r.Steps, r.TrainSeconds, r.StepsPerSecond, r.EnsembleHash)
	return nil
}
