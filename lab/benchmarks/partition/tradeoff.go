package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"lethe/lab/bench"
	"lethe/lab/protocol"
	"lethe/partition"
	"lethe/trainer/kernels"
	"lethe/trainer/models"
)

// tradeoffCmd measures what a low cut saves at erasures and costs in quality.
type tradeoffCmd struct {
	Shards   int      `default:"${shards}" help:"Number of shards."`
	Data     string   `required:"" type:"existingdir" env:"LETHE_DATA" help:"${data}"`
	Out      string   `required:"" type:"path" help:"${out}"`
	Plot     string   `help:"Draw <plot>.svg."`
	Splits   int      `default:"2" help:"Random splits to average over, seeds from 0."`
	MinStubs []int    `default:"0,1,2,4" help:"Minimum numbers of stubs per node, ascending."`
	Datasets []string `default:"Cora,CiteSeer,Bitcoin-OTC" help:"Data sets to measure."`
	Workers  int      `help:"Measurements side by side; by default one per processor."`
}

// cutChoice is a way to cut the graph, from many cut edges to few.
type cutChoice struct {
	name string
	protocol.Partition
}

func cutChoices() []cutChoice {
	return []cutChoice{
		{"random", protocol.Partition{Method: partition.MethodRandom}},
		{"gpfb-fast, not refined", protocol.Partition{Method: partition.MethodGPFBFast}},
		{"gpfb-fast, refined", protocol.Partition{Method: partition.MethodGPFBFast, Refine: true}},
	}
}

// subject is what a panel of the picture is about: a data set, a model and a
// measure of quality.
type subject struct {
	dataset, model string
	hidden         int
	measure        measure
}

// stream tells whether the data set has timesteps.
func (s subject) stream() bool { return s.dataset == bench.BitcoinOTC }

func (c *tradeoffCmd) subjects() []subject {
	all := []subject{
		{bench.Cora, "sage", 64, accuracy()}, {bench.Cora, "gin", 64, accuracy()}, {bench.Cora, "gcn", 64, accuracy()},
		{bench.CiteSeer, "gcn", 64, accuracy()},
		{bench.BitcoinOTC, models.EllipticGIN, 64, auc()}, {bench.BitcoinOTC, models.EllipticGIN, 64, averagePrecision()},
	}
	return slices.DeleteFunc(all, func(s subject) bool { return !slices.Contains(c.Datasets, s.dataset) })
}

// Run measures what is not finished and prints the table.
func (c *tradeoffCmd) Run(ctx context.Context) error {
	if err := c.check(); err != nil {
		return err
	}
	store, err := bench.OpenStore(c.Out)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	runner := &bench.Runner{
		Data: bench.NewData(c.Data), Store: store, Kernels: kernels.Default(), Workers: c.Workers, Now: time.Now,
		Progress: func(p bench.Progress) {
			fmt.Fprintf(os.Stderr, "%d of %d measurements, %s left\n", p.Done, p.Total, p.Left.Round(time.Second))
		},
	}
	results, err := runner.Run(ctx, c.cells())
	if err != nil {
		return err
	}
	panels, err := c.panels(results)
	if err != nil {
		return err
	}
	if err := tradeoffTable(panels, c.MinStubs, c.Splits).Markdown(os.Stdout, 3); err != nil {
		return err
	}
	if c.Plot == "" {
		return nil
	}
	return drawPanels(c.Plot, panels, c.MinStubs)
}

func (c *tradeoffCmd) check() error {
	if c.Splits < 1 {
		return fmt.Errorf("--splits is %d, must be at least 1", c.Splits)
	}
	for _, k := range c.MinStubs {
		if k < 0 {
			return fmt.Errorf("--min-stubs holds %d, must be at least 0", k)
		}
	}
	if len(c.subjects()) == 0 {
		return fmt.Errorf("--datasets names %s, none of %s, %s, %s", strings.Join(c.Datasets, ", "), bench.Cora,
			bench.CiteSeer, bench.BitcoinOTC)
	}
	if c.Workers < 1 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	return os.MkdirAll(c.Out, 0o755)
}

// cells lists the measurements, a whole split before the next.
func (c *tradeoffCmd) cells() (out []bench.Cell) {
	for seed := range uint64(c.Splits) {
		for _, s := range c.subjects() {
			out = append(out, c.unsharded(s, seed))
			for _, cut := range cutChoices() {
				for _, k := range c.MinStubs {
					out = append(out, c.cell(s, cut, k, seed))
				}
			}
		}
	}
	return out
}

// cell is one ensemble. On a stream every timestep is scored and then learnt
// from, as the service does; on a graph the settings are the paper's.
func (c *tradeoffCmd) cell(s subject, cut cutChoice, minStubs int, seed uint64) bench.Cell {
	set := func(to *protocol.Settings) {
		to.Hidden, to.Shards, to.Partition, to.MinStubs, to.Seed = s.hidden, c.Shards, cut.Partition, minStubs, seed
	}
	if s.stream() {
		stream := protocol.StreamDefaults(s.model, protocol.Continual, protocol.EllipticSplit())
		set(&stream.Settings)
		return bench.Cell{Dataset: s.dataset, Stream: &stream}
	}
	settings := protocol.Defaults(s.model)
	set(&settings)
	return bench.Cell{Dataset: s.dataset, Graph: &settings}
}

// unsharded is one model on everything, for comparison.
func (c *tradeoffCmd) unsharded(s subject, seed uint64) bench.Cell {
	one := *c
	one.Shards = 1
	return one.cell(s, cutChoices()[0], 0, seed)
}
