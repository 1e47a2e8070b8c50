package tables

import (
	"cmp"
	"slices"
	"strings"

	"lethe/lab/bench"
	"lethe/lab/protocol"
	"lethe/lab/report"
	"lethe/trainer"
	"lethe/trainer/models"
)

// streamRow is a row of the fraud table.
type streamRow struct {
	how        method
	model      string
	components []string
	schedule   string
	hops       oneHop
	// drawn says that its line is in the figure of lethe's own rows.
	drawn bool
}

// oneHop is what is joined to every transaction's features.
type oneHop string

const (
	noHop         oneHop = report.Missing
	undirectedHop oneHop = "undirected"
	directedHop   oneHop = "directed"
)

// streamRows are the methods with the paper's GIN; then, unsharded and sharded as
// lethe does: the models that look at rows alone, test-then-train with one-hop
// features where they help, and what was measured best (docs/models.md). A quick
// run takes some of them.
func (o Options) streamRows() []streamRow {
	var out []streamRow
	for _, m := range methods()[:len(methods())-1] {
		out = append(out, streamRow{how: m, model: models.EllipticGIN, schedule: protocol.Static, hops: noHop})
	}
	both := func(e streamRow, drawn ...string) {
		for _, name := range []string{scratch, own} {
			e.how, e.drawn = methodNamed(name), slices.Contains(drawn, name)
			out = append(out, e)
		}
	}
	for _, flat := range trainer.RowModels() {
		both(streamRow{model: flat, schedule: protocol.Static, hops: noHop}, scratch)
	}
	both(streamRow{model: models.EllipticGIN, schedule: protocol.Continual, hops: noHop}, own)
	both(streamRow{model: models.EllipticGIN, schedule: protocol.Continual, hops: undirectedHop})
	both(streamRow{model: trainer.Trees, schedule: protocol.Window, hops: undirectedHop}, scratch, own)
	both(streamRow{model: trainer.Logistic, schedule: protocol.Window, hops: undirectedHop})
	both(streamRow{model: trainer.Logistic, schedule: protocol.Window, hops: directedHop}, scratch, own)
	both(streamRow{
		model: trainer.Blend, components: []string{trainer.Logistic, trainer.Trees},
		schedule: protocol.Continual, hops: directedHop,
	}, own)
	if !o.Quick {
		return out
	}
	return slices.DeleteFunc(out, func(e streamRow) bool {
		return !slices.Contains([]string{scratch, guideFast, own}, e.how.name) ||
			e.model == trainer.Trees || e.model == trainer.Blend || e.hops == undirectedHop
	})
}

// papers tells whether the row is one of the paper's: its model and schedule.
func (e streamRow) papers() bool {
	return e.model == models.EllipticGIN && e.schedule == protocol.Static
}

// modelName is what the table calls the model.
func (e streamRow) modelName() string {
	switch e.model {
	case models.EllipticGIN:
		return "GIN"
	case trainer.Blend:
		return strings.Join(e.components, " + ")
	default:
		return e.model
	}
}

// String names the row in a figure.
func (e streamRow) String() string {
	if e.papers() {
		return e.how.name
	}
	text := e.how.name + ", " + e.modelName()
	if e.hops != noHop {
		text += ", " + string(e.hops)
	}
	return text + ", " + e.schedule
}

// cell is the measurement behind the row.
func (e streamRow) cell(o Options, dataset string, seed uint64) bench.Cell {
	s := protocol.StreamDefaults(cmp.Or(e.model, models.EllipticGIN), e.schedule, o.streamSplit())
	s.Epochs, s.Shards, s.Seed = o.epochs(s.Epochs), o.shards(dataset), seed
	if len(e.components) > 0 {
		s.Components = slices.Clone(e.components)
	}
	s.OneHop, s.OneHopDirected = e.hops != noHop, e.hops == directedHop
	e.how.apply(&s.Settings)
	s.Propagate, s.MinStubs = false, 0
	return bench.Cell{Dataset: dataset, Stream: &s}
}
