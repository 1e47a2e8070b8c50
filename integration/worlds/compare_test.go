package worlds

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lethe"
	"lethe/canonical"
	"lethe/metrics/events"
	"lethe/pipeline/wire"
)

// compare says how a deployment differs from one that never saw the targets, or
// nothing. What was predicted before the targets were erased was sent and stays. In a
// loose world it is compared with itself.
func compare(ctx context.Context, w world, got, want *state) []string {
	var c comparison
	c.receipts(w, got)
	c.hidden(w, got)
	c.committed(got)
	c.logged(got)
	c = append(c, got.doubled...)
	c.standing(w, got)
	if w.loose {
		c.kept(w, got)
	} else {
		c.graphs(got, want)
		c.letters(w, got, want)
		c.counts(w, got, want)
	}
	if len(c) == 0 {
		c.cut(w, got, want)
	}
	if len(c) == 0 {
		c.models(ctx, w, got, want)
	}
	return c
}

// standing compares what those know that stand by with what is known to those that lead.
func (c *comparison) standing(w world, got *state) {
	for role, processes := range map[string]int{ofGraphs: w.builders, ofScore: w.scorers} {
		c.equal("processes of "+role+" that stand by", len(got.standing[role]), max(0, processes-1))
		for i, has := range got.standing[role] {
			what := fmt.Sprintf("process %d of %s that stands by", i, role)
			if has == nil {
				continue
			}
			if role == ofScore {
				c.equal(what+": ensemble", has.Ensemble == nil, got.status.Ensemble == nil)
				if has.Ensemble != nil && got.status.Ensemble != nil {
					c.equal(what+": ensemble", *has.Ensemble, *got.status.Ensemble)
				}
				continue
			}
			c.equal(what+": timesteps", len(has.Steps), len(got.status.Steps))
			for t, step := range has.Steps {
				led := got.status.Steps[t]
				c.equal(fmt.Sprintf("%s: counts of %d", what, t), []any{step.State, step.Nodes, step.Payments, step.Labels},
					[]any{led.State, led.Nodes, led.Payments, led.Labels})
			}
		}
	}
}

// graphs compares the timesteps and their graphs.
func (c *comparison) graphs(got, want *state) {
	c.equal("timesteps with a graph", slices.Sorted(maps.Keys(got.graphs)), slices.Sorted(maps.Keys(want.graphs)))
	for t, g := range want.graphs {
		c.equal(fmt.Sprintf("graph %d", t), graphDigest(got.graphs[t]), graphDigest(g))
		c.equal(fmt.Sprintf("transactions of %d", t), idsOf(got.graphs[t]), idsOf(g))
		c.equal(fmt.Sprintf("timestep before %d", t), got.graphs[t].Previous, g.Previous)
	}
	c.equal("settled timesteps", slices.Sorted(maps.Keys(got.manifests)), slices.Sorted(maps.Keys(want.manifests)))
	c.equal("known timesteps", slices.Sorted(maps.Keys(got.status.Steps)), slices.Sorted(maps.Keys(want.status.Steps)))
	for t, step := range want.status.Steps {
		have := got.status.Steps[t]
		c.equal(fmt.Sprintf("counts of %d", t),
			[]any{have.State, have.Nodes, have.Payments, have.Labels}, []any{step.State, step.Nodes, step.Payments, step.Labels})
	}
}

// letters compares the dead letters, late ones and others. Of several with one key
// compaction keeps the last. What was sent once more may be refused in other words.
func (c *comparison) letters(w world, got, want *state) {
	alike := w.alikeRedacted()
	maps.Copy(alike, w.guessed())
	if w.isOperated() {
		c.equal("keys of dead letters", got.letterKeys(alike), want.letterKeys(alike))
		return
	}
	maps.Copy(alike, w.misplaced())
	have, due := got.lettersBut(alike), want.lettersBut(alike)
	c.equal("dead letters that are missing", without(due, have), []string(nil))
	c.equal("dead letters too many", without(have, due), []string(nil))
	c.equal("number of dead letters", len(have), len(due))
}

// counts compares how many records were taken, refused and so on, where no process was
// killed before it told: the records that name a target come to those of the others.
func (c *comparison) counts(w world, got, want *state) {
	if len(w.crashes) > 0 || w.builders > 0 || w.isOperated() || w.redacts() {
		return // records that differ in features that are erased repeat each other without them
	}
	targets, named, more := w.targets(), 0, 0
	for _, e := range w.events {
		if e.erased(targets) {
			named++
		}
	}
	// What an erasure itself deletes from the topics is read as well, and moves nothing.
	own := func(what string) bool {
		_, result, _ := strings.Cut(what, " ")
		return result == string(events.Ignored) || result == string(events.Suppressed)
	}
	for what := range got.taken {
		if !own(what) {
			more += got.taken[what]
		}
	}
	for what, n := range want.taken {
		if !own(what) {
			more -= n
		}
		if got.taken[what] < n {
			*c = append(*c, fmt.Sprintf("%d records %s, want %d and those of targets", got.taken[what], what, n))
		}
	}
	// Some of a target's are deleted before they are read.
	c.equal(fmt.Sprintf("%d records more, %d name targets", more, named), more >= 0 && more <= named, true)
}

// kept checks that every transaction of others is in a graph or among the dead letters.
//
// While too few have come to tell the number of features, all are kept to wait for more.
func (c *comparison) kept(w world, got *state) {
	if got.status.FeatureCount == 0 {
		return
	}
	targets := w.targets()
	held := make(map[lethe.TransactionID]bool)
	for _, g := range got.graphs {
		for _, id := range idsOf(g) {
			held[id] = true
		}
	}
	for _, e := range w.events {
		if e.row == nil || e.erased(targets) || held[e.names[0]] || len(got.letters[string(e.record.Key)]) > 0 {
			continue
		}
		*c = append(*c, fmt.Sprintf("%q is in no graph, and there is no dead letter", e.names[0]))
	}
}

// graphDigest is that of a graph without its labels, which it has when it is
// published once more.
func graphDigest(m wire.Message) string {
	g, err := canonical.DecodeSnapshot(m.Payload)
	if err != nil {
		return err.Error()
	}
	for i := range g.Nodes {
		g.Nodes[i].Label = lethe.Unknown
	}
	return canonical.DigestOf(canonical.EncodeSnapshot(g)).String()
}

// idsOf are the transactions of a graph.
func idsOf(m wire.Message) (out []lethe.TransactionID) {
	g, err := canonical.DecodeSnapshot(m.Payload)
	if err != nil {
		return nil
	}
	for _, n := range g.Nodes {
		out = append(out, n.ID)
	}
	slices.Sort(out)
	return out
}

// without returns the texts of all that are not among some.
func without(all, some []string) (out []string) {
	for _, text := range all {
		if !slices.Contains(some, text) {
			out = append(out, text)
		}
	}
	return out
}

// comparison collects differences.
type comparison []string

func (c *comparison) equal(what string, got, want any) {
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		*c = append(*c, fmt.Sprintf("%s: %s, want %s", what, g, w))
	}
}
