package coordinator

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/deletions/withdrawal"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// fakeGraphs holds transactions named t<timestep>-<name>; their slice is of shard
// 1, and at scope stubs that of shard 4 changes too.
type fakeGraphs struct {
	d          *deployment
	held       map[lethe.TransactionID]lethe.Timestep
	suppressed map[lethe.TransactionID]bool
	revisions  map[lethe.Timestep]lethe.Revision
	// alike are the contents that a transaction has that is not erased.
	alike map[scan.MAC]bool
	// renewed are slices that something else replaced.
	renewed map[deletions.SliceRef]bool
}

func newFakeGraphs(d *deployment) fakeGraphs {
	return fakeGraphs{
		d: d, held: map[lethe.TransactionID]lethe.Timestep{"transaction-1": 3, "transaction-2": 5, "transaction-3": 5},
		suppressed: make(map[lethe.TransactionID]bool), revisions: map[lethe.Timestep]lethe.Revision{3: 1, 5: 1},
		alike: make(map[scan.MAC]bool), renewed: make(map[deletions.SliceRef]bool),
	}
}

func (g fakeGraphs) Suppress(_ context.Context, targets []lethe.Target) error {
	return g.d.call(func() error {
		for _, t := range targets {
			g.suppressed[t.Transaction] = true
		}
		return nil
	}, "suppress %d", len(targets))
}

func (g fakeGraphs) Lift(_ context.Context, hashes []lethe.Digest, _ ...lethe.SubjectUntil) error {
	return g.d.call(func() error {
		for id := range g.suppressed {
			if slices.Contains(hashes, testSecret.Suppression(id)) {
				delete(g.suppressed, id)
			}
		}
		return nil
	}, "lift %d", len(hashes))
}

func (g fakeGraphs) Adopt(context.Context, []lethe.Target, []lethe.Digest) error { return nil }

func (g fakeGraphs) Carried([]lethe.Target) ([]lethe.Target, int, error) { return nil, 0, nil }

// SubjectsOf: who is called SUBJECT.NAME carries a subject.
func (g fakeGraphs) SubjectsOf(t lethe.Target) ([]lethe.Digest, error) {
	subject, _, carries := strings.Cut(string(t.Transaction), ".")
	if t.Kind == lethe.SubjectTarget {
		subject, carries = t.Subject, true
	}
	if !carries {
		return nil, nil
	}
	return []lethe.Digest{testSecret.HeldSubject(testSecret.SubjectPseudonym(subject))}, nil
}

func (g fakeGraphs) Newest() lethe.Timestep { return 5 }

func (g fakeGraphs) Suppressed(hashes []lethe.Digest) (n int) {
	for id := range g.suppressed {
		if slices.Contains(hashes, testSecret.Suppression(id)) {
			n++
		}
	}
	return n
}

// contentOf is what the features of a transaction are known by.
func contentOf(id lethe.TransactionID) scan.MAC {
	return scan.MAC([]byte(fmt.Sprintf("%-16s", id))[:16])
}

func (g fakeGraphs) Alike(contents []scan.MAC) ([]bool, error) {
	out := make([]bool, len(contents))
	for i, content := range contents {
		out[i] = g.alike[content]
	}
	return out, nil
}

// Published gives digests that hold the timestep, the revision and the shard.
func (g fakeGraphs) Published(timesteps []lethe.Timestep) (map[lethe.Timestep]deletions.Published, error) {
	out := make(map[lethe.Timestep]deletions.Published)
	for _, t := range timesteps {
		r := byte(g.revisions[t])
		p := deletions.Published{Graph: lethe.Digest{byte(t), r}, Manifest: lethe.Digest{byte(t), r, 255}}
		for shard := range byte(5) {
			p.Slices = append(p.Slices, lethe.Digest{byte(t), r, shard + 1})
		}
		out[t] = p
	}
	return out, nil
}

func (g fakeGraphs) Plan(
	_ context.Context, requests [][]lethe.Target, scope lethe.Scope,
) (plans []Plan, err error) {
	return plans, g.d.call(func() error {
		for _, targets := range requests {
			plan, err := g.planOne(targets, scope)
			if err != nil {
				return err
			}
			plans = append(plans, plan)
		}
		return nil
	}, "plan %s at scope %s", told(requests), scope)
}

// PlanRepartition has all shards change.
func (g fakeGraphs) PlanRepartition(_ context.Context, timesteps []lethe.Timestep) (out []Replaced, err error) {
	return out, g.d.call(func() error {
		for _, t := range timesteps {
			out = append(out, Replaced{Timestep: t, Shards: []lethe.ShardID{1, 4, 7}})
		}
		return nil
	}, "plan %v afresh", timesteps)
}

func (g fakeGraphs) planOne(targets []lethe.Target, scope lethe.Scope) (plan Plan, err error) {
	steps := make(map[lethe.Timestep]StepPlan)
	for _, target := range targets {
		t, known := g.held[target.Transaction]
		plan.Held = append(plan.Held, known)
		if !known {
			continue
		}
		plan.Kept++
		s := steps[t]
		s.Replaced = Replaced{Timestep: t, Shards: []lethe.ShardID{1}}
		if scope != lethe.ScopeShard {
			s.Shards = append(s.Shards, 4)
			if scope == lethe.ScopePartition {
				s.Shards = append(s.Shards, 7)
			}
		} else {
			s.Kept = []deletions.KeptStubs{{SliceRef: deletions.SliceRef{Timestep: t, Shard: 4}, Stubs: s.Stubs + 1}}
		}
		s.Labels, s.Payments, s.Stubs = s.Labels+1, s.Payments+2, s.Stubs+1
		steps[t] = s
		row, err := scan.NewFingerprint(testSecret, scan.KindFeatures, []byte("features of "+target.Transaction))
		if err != nil {
			return plan, err
		}
		plan.Fingerprints = append(plan.Fingerprints, row)
		for _, topic := range []bus.Topic{bus.Transactions, bus.Predictions} {
			plan.Records = append(plan.Records, withdrawal.NamedRecord{Topic: topic, Key: string(target.Transaction)})
		}
		plan.Rows = append(plan.Rows, deletions.RowForms{Content: contentOf(target.Transaction), Forms: []scan.MAC{row.MAC}})
	}
	for _, t := range slices.Sorted(maps.Keys(steps)) {
		plan.Steps = append(plan.Steps, steps[t])
	}
	return plan, nil
}

// told is how many targets each request has.
func told(requests [][]lethe.Target) string {
	var out []string
	for _, targets := range requests {
		out = append(out, strconv.Itoa(len(targets)))
	}
	return strings.Join(out, "+")
}

// toldReplaced tells timesteps, shards and revisions, and which timesteps are partitioned
// afresh or published anew.
func toldReplaced(list []Replaced) (out []string) {
	for _, r := range list {
		text := fmt.Sprintf("{%d %d %d}", r.Timestep, r.Shards, r.Revision)
		if r.Repartitioned {
			text += " afresh"
		}
		if r.Renewed {
			text += " anew"
		}
		out = append(out, text)
	}
	return out
}

func (g fakeGraphs) Rewrite(_ context.Context, _ []lethe.Digest, targets []lethe.Target, replaced []Replaced) error {
	return g.d.call(func() error {
		for _, target := range targets {
			if t, known := g.held[target.Transaction]; known {
				g.revisions[t]++
			}
			delete(g.held, target.Transaction)
		}
		for _, r := range replaced {
			for _, shard := range r.Shards {
				key := wire.Key{Kind: wire.KindSlice, Shard: shard, Timestep: r.Timestep}
				g.d.bus.append(bus.Slices, ingest.Outgoing{Key: []byte(key.String()), Value: []byte("slice")})
			}
		}
		return nil
	}, "rewrite %d: %v", len(targets), toldReplaced(replaced))
}

// BeginScrub begins a scrub that has ended then.
func (g fakeGraphs) BeginScrub(context.Context) (func() bool, error) {
	return func() bool { return true }, g.d.call(func() error { return nil }, "scrub")
}

// Outdated: at scope shard the slices of shard 4 keep their stubs, unless they were
// replaced.
func (g fakeGraphs) Outdated(slices []deletions.SliceRef) ([]bool, error) {
	out := make([]bool, len(slices))
	for i, ref := range slices {
		out[i] = !g.renewed[ref]
	}
	return out, nil
}

func (g fakeGraphs) Steps(replaced []Replaced) (out []wire.CommandStep) {
	for _, r := range replaced {
		out = append(out, wire.CommandStep{
			Timestep: r.Timestep, Revision: g.revisions[r.Timestep], Settled: true, Shards: r.Shards,
		})
	}
	return out
}

func (g fakeGraphs) Search(
	_ context.Context, _ *scan.Scanner, replaced []Replaced,
) (report scan.Report, err error) {
	search := func() error { report = scan.Report{Files: 1, Bytes: 50}; return nil }
	return report, g.d.call(search, "search %v", toldReplaced(replaced))
}

func (g fakeGraphs) search(
	context.Context, *scan.Scanner, *scan.Pacer, scan.Clean,
) (report scan.Report, err error) {
	return report, g.d.call(func() error { report = scan.Report{Files: 2, Bytes: 100}; return nil }, "search the graphs")
}
