package coordinator

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/scan"
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
}

func newFakeGraphs(d *deployment) fakeGraphs {
	return fakeGraphs{
		d: d, held: map[lethe.TransactionID]lethe.Timestep{"transaction-1": 3, "transaction-2": 5, "transaction-3": 5},
		suppressed: make(map[lethe.TransactionID]bool), revisions: map[lethe.Timestep]lethe.Revision{3: 1, 5: 1},
	}
}

func (g fakeGraphs) Locate(targets []lethe.Target) (out []Location, err error) {
	return out, g.d.call(func() error {
		for _, t := range targets {
			_, known := g.held[t.Transaction]
			out = append(out, Location{Known: known, Suppressed: g.suppressed[t.Transaction]})
		}
		return nil
	}, "locate %d", len(targets))
}

func (g fakeGraphs) Suppress(targets []lethe.Target) error {
	return g.d.call(func() error {
		for _, t := range targets {
			g.suppressed[t.Transaction] = true
		}
		return nil
	}, "suppress %d", len(targets))
}

func (g fakeGraphs) Plan(targets []lethe.Target, scope lethe.Scope) (plan Plan, err error) {
	return plan, g.d.call(func() error {
		steps := make(map[lethe.Timestep]StepPlan)
		for _, target := range targets {
			t, known := g.held[target.Transaction]
			if !known {
				continue
			}
			s := steps[t]
			s.Replaced = Replaced{Timestep: t, Shards: []lethe.ShardID{1}}
			if scope != lethe.ScopeShard {
				s.Shards = append(s.Shards, 4)
			}
			s.Labels, s.Payments, s.Stubs = s.Labels+1, s.Payments+2, s.Stubs+1
			steps[t] = s
			row, err := scan.NewFingerprint(testSecret, scan.KindFeatures, []byte("features of "+target.Transaction))
			if err != nil {
				return err
			}
			plan.Fingerprints = append(plan.Fingerprints, row)
		}
		for _, t := range []lethe.Timestep{3, 5} {
			if s, concerned := steps[t]; concerned {
				plan.Steps = append(plan.Steps, s)
			}
		}
		return nil
	}, "plan %d at scope %s", len(targets), scope)
}

func (g fakeGraphs) Rewrite(_ context.Context, targets []lethe.Target, replaced []Replaced) error {
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
	}, "rewrite %d: %v", len(targets), replaced)
}

func (g fakeGraphs) Steps(replaced []Replaced) (out []wire.CommandStep) {
	for _, r := range replaced {
		out = append(out, wire.CommandStep{
			Timestep: r.Timestep, Revision: g.revisions[r.Timestep], Settled: true, Shards: r.Shards,
		})
	}
	return out
}

func (g fakeGraphs) search(context.Context, *scan.Scanner) (report scan.Report, err error) {
	return report, g.d.call(func() error { report = scan.Report{Files: 2, Bytes: 100}; return nil }, "search the graphs")
}

// fakeBus keeps every record until it is compacted.
type fakeBus struct {
	d      *deployment
	topics map[bus.Topic][]ingest.Record
	ends   map[bus.Topic]int64
}

func (b fakeBus) append(topic bus.Topic, out ingest.Outgoing) {
	b.topics[topic] = append(b.topics[topic], ingest.Record{
		Topic: string(topic), Offset: b.ends[topic], Key: out.Key, Value: out.Value, Headers: out.Headers,
	})
	b.ends[topic]++
}

func (b fakeBus) Write(_ context.Context, topic bus.Topic, records []ingest.Outgoing) error {
	var told []string
	for _, rec := range records {
		told = append(told, tell(ingest.Record{Topic: string(topic), Key: rec.Key, Value: rec.Value}))
	}
	return b.d.call(func() error {
		for _, rec := range records {
			b.append(topic, rec)
		}
		return nil
	}, "write %s: %s", topic, strings.Join(told, ", "))
}

// tell says what a record is in a few words.
func tell(rec ingest.Record) string {
	if rec.Tombstone() {
		return "delete " + string(rec.Key)
	}
	if rec.Topic != string(bus.ErasureStatus) {
		return string(rec.Key)
	}
	n, err := wire.ParseNotice(rec)
	switch {
	case err != nil:
		return err.Error()
	case n.Command != nil:
		return fmt.Sprintf("command %s attempt %d of %s, %d timesteps",
			n.Command.Phase, n.Command.Attempt, n.Command.RequestID, len(n.Command.Steps))
	default:
		out := fmt.Sprintf("%s is %s", n.Status.RequestID, n.Status.State)
		if n.Status.Failure != deletions.NoFailure {
			out += ", because " + string(n.Status.Failure)
		}
		return out
	}
}

func (b fakeBus) ReadAll(_ context.Context, topic bus.Topic, fn func(ingest.Record) error) error {
	return b.d.call(func() error {
		for _, rec := range b.topics[topic] {
			if err := fn(rec); err != nil {
				return err
			}
		}
		return nil
	}, "read %s", topic)
}

func (b fakeBus) RollMarkers(_ context.Context, topics ...bus.Topic) error {
	return b.d.call(func() error { return nil }, "roll %d topics", len(topics))
}

// compact leaves the newest record of each key, and none that is deleted. What
// stuck- begins stays, as in a log that is not cleaned.
func (b fakeBus) compact() error {
	for topic, log := range b.topics {
		if topic == bus.ErasureStatus {
			continue
		}
		b.topics[topic] = slices.DeleteFunc(slices.Clone(log), func(rec ingest.Record) bool {
			newer := slices.ContainsFunc(log, func(other ingest.Record) bool {
				return other.Offset > rec.Offset && bytes.Equal(other.Key, rec.Key)
			})
			return (newer || rec.Tombstone()) && !bytes.HasPrefix(rec.Key, []byte("stuck-"))
		})
	}
	return nil
}
