// Command stack measures ensembles whose components have groups of shards of their
// own: test-then-train along a stream, every timestep is scored by models trained
// through the one before it. A component is a model, the number of its groups and
// what differs from the model's defaults:
//
//	go run ./lab/benchmarks/stack --dataset ../shared/data/bitcoin-otc/elliptic-format \
//	  --components elliptic-gin:20,trees:4:rounds=300:leaves=15,logistic:2
//
// With --components several times, several ensembles are measured in one run, and a
// component that is in more than one is trained once. What shards cost and what the
// partition is worth shows with them left out: with --whole what is served has learnt from
// everything, and with --method random --no-refine shards are drawn.
//
//   - component.go: what a component is, read from the command line
//   - cut.go: the stream, cut into slices as the service cuts it
//   - train.go: the models of a component, and what they say
//   - outofgroup.go: what the groups say that do not hold a row
//   - learn.go: combination, calibration and threshold, learnt from that
//   - run.go: the way through the stream
//   - touched.go: how many groups an erasure reaches
//   - paired.go: how much better an ensemble is than another, by bootstrap
//   - measure.go, render.go: the figures, and how they are printed
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/alecthomas/kong"

	"lethe/configs"
	"lethe/lab/baselines"
	"lethe/lab/protocol"
	"lethe/partition"
	"lethe/scoring/calibrate"
	"lethe/scoring/decision"
	"lethe/scoring/meta"
)

// cli is the command line.
type cli struct {
	Dataset    string   `required:"" type:"existingdir" help:"Folder with Elliptic's three CSV files."`
	Shards     int      `default:"${shards}" help:"Number of shards."`
	Method     string   `default:"${method}" help:"Partition: ${methods}."`
	Refine     bool     `default:"true" negatable:"" help:"Refine the partition."`
	Whole      bool     `help:"Score by a model of every component that has learnt from everything, without shards."`
	Components []string `default:"${components}" sep:"none" help:"${components_help}"`
	Window     int      `default:"${window}" help:"Timesteps whose labels the combination is learnt from."`
	From       int      `default:"${from}" help:"First timestep that is measured."`
	To         int      `default:"${to}" help:"Last timestep that is measured."`
	Threshold  string   `default:"${threshold}" help:"Rule of the served class: auto, precision:p, budget:n or a number."`
	Calibrate  string   `default:"${calibration}" help:"How logits become probabilities: ${calibrations}."`
	Pull       float64  `default:"${pull}" help:"Pull of the components' weights towards equal ones."`
	Budget     int      `default:"50" help:"Alerts a timestep whose precision and recall are printed."`
	Paired     bool     `help:"Print how much better every ensemble is than the first, with intervals."`
	Seed       uint64   `default:"${seed}" help:"Keys every random draw."`
	Alerts     string   `type:"path" help:"Draw precision and recall at the budget through time, and print them."`
	JSON       bool     `name:"json" help:"Print one JSON document."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var c cli
	parser := kong.Parse(&c, kong.Name("stack"),
		kong.Description("Measures ensembles whose components have groups of shards of their own."),
		vars(), kong.BindTo(ctx, (*context.Context)(nil)))
	parser.FatalIfErrorf(parser.Run())
}

// vars are what the flags take from the packages that own the settings. The measured
// timesteps are those that test by the split of Elliptic.
func vars() kong.Vars {
	c, split := meta.Defaults(), protocol.EllipticSplit()
	return kong.Vars{
		"components_help": "An ensemble: MODEL:GROUPS[:raw][:seed=N][:KEY=VALUE] of every component, with commas; may be " +
			"repeated.",

		"components":   "trees:2,logistic:2",
		"method":       partition.Defaults().Method,
		"methods":      strings.Join(baselines.QuotaMethods(), ", "),
		"shards":       fmt.Sprint(partition.Defaults().Shards),
		"window":       fmt.Sprint(c.Timesteps),
		"threshold":    c.Threshold.String(),
		"calibration":  c.Calibration.Method,
		"calibrations": strings.Join(calibrate.Methods(), ", "),
		"pull":         fmt.Sprint(c.Stack.L2),
		"seed":         fmt.Sprint(configs.Default().Seed),
		"from":         fmt.Sprint(split.Total() - split.Test + 1),
		"to":           fmt.Sprint(split.Total()),
	}
}

// Run measures and prints.
func (c *cli) Run(ctx context.Context) error {
	rule, err := decision.ParseRule(c.Threshold)
	if err != nil {
		return err
	}
	r, err := newRun(ctx, c, rule)
	if err != nil {
		return err
	}
	if err := r.through(ctx); err != nil {
		return err
	}
	report := r.report()
	if c.JSON {
		return writeJSON(os.Stdout, report)
	}
	if err := writeTables(os.Stdout, report); err != nil || c.Alerts == "" {
		return err
	}
	if err := writeAlerts(os.Stdout, report); err != nil {
		return err
	}
	return drawAlerts(c.Alerts, report)
}
