package score

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
	"lethe/trainer/kernels"
)

// transcript drives a role by hand: one message after the other, as Run does.
type transcript struct {
	t      *testing.T
	w      *scenario
	role   subject
	store  *roletest.Store
	lag    int
	topics *roletest.Bus
	gone   []lethe.TransactionID
}

// The role as transcripts: what arrives, in which order, and what it serves and
// publishes then. Predictions are told by timestep and the timestep through
// which their ensemble was trained.
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata/transcripts", func(t *testing.T, path string) {
		tr := &transcript{t: t, store: roletest.NewStore(), topics: topics()}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			tr.t = t
			return tr.do(d)
		})
	})
}

func (tr *transcript) do(d *datadriven.TestData) string {
	switch d.Cmd {
	case "scenario":
		var steps int
		d.ScanArgs(tr.t, "steps", &steps)
		d.MaybeScanArgs(tr.t, "lag", &tr.lag)
		tr.w = newScenario(tr.t, lethe.Timestep(steps))
		for _, a := range d.CmdArgs {
			if a.Key == "window" {
				tr.w.options.Schedule = "window"
			}
		}
		tr.open()
	case "stale":
		// Read again after a restart: what was there before the erasure.
		stale := tr.w.stale[tr.timestep(d)]
		require.NoError(tr.t, tr.role.arrive(tr.t, stale[0], stale[1]))
	case "graph", "manifest", "models":
		tr.arrive(d)
	case "remove":
		tr.gone = append(tr.gone, tr.w.remove(tr.timestep(d))...)
	case "insert":
		tr.w.insert()
	case "join":
		tr.w.join(tr.timestep(d))
	case "deleted":
		tr.deleted(d)
	case "erase":
		var at, node int
		d.ScanArgs(tr.t, "t", &at)
		d.ScanArgs(tr.t, "node", &node)
		tr.gone = append(tr.gone, tr.w.erase(lethe.Timestep(at), node))
		return fmt.Sprintf("slices of shards %v change\n", tr.w.replaced(lethe.Timestep(at)))
	case "command":
		tr.command(d)
	case "portable":
		// The training role moved to another processor and trained anew.
		var err error
		tr.w.kernels, err = kernels.Named(kernels.PortableName)
		require.NoError(tr.t, err)
	case "lag":
		d.ScanArgs(tr.t, "timesteps", &tr.lag)
		tr.open()
	case "kill":
		tr.open()
	case "forget-scored":
		// What a kill between publishing and noting leaves.
		tr.unnote(tr.timestep(d))
		tr.open()
	default:
		tr.t.Fatalf("no command %s", d.Cmd)
	}
	return tr.describe()
}

// timestep is the argument t.
func (tr *transcript) timestep(d *datadriven.TestData) lethe.Timestep {
	var at int
	d.ScanArgs(tr.t, "t", &at)
	return lethe.Timestep(at)
}

// open opens the role on the store, as at the start or after a kill.
func (tr *transcript) open() {
	o := optionsFor(tr.topics)
	o.Scoring.LabelLagTimesteps, o.Layout = tr.lag, tr.w.layout()
	tr.role = newSubject(tr.t, o, tr.store)
	require.NoError(tr.t, tr.role.Feed(tr.t.Context(), role.Input{}))
}

// arrive hands messages over in one batch.
func (tr *transcript) arrive(d *datadriven.TestData) {
	var steps, of []int
	d.ScanArgs(tr.t, "t", &steps)
	if d.MaybeScanArgs(tr.t, "shards", &of); of == nil {
		of = []int{0, 1}
	}
	var messages []wire.Message
	for _, step := range steps {
		at := lethe.Timestep(step)
		switch d.Cmd {
		case "graph":
			messages = append(messages, tr.w.graph(at))
		case "manifest":
			messages = append(messages, tr.w.manifest(at))
		default:
			for _, shard := range of {
				m := tr.w.model(lethe.ShardID(shard), at)
				m.Last = d.HasArg("last")
				messages = append(messages, m)
			}
		}
	}
	require.NoError(tr.t, tr.role.arrive(tr.t, messages...))
}

// deleted hands over that an artefact of a timestep is gone.
func (tr *transcript) deleted(d *datadriven.TestData) {
	var at int
	d.ScanArgs(tr.t, "t", &at)
	key := wire.Key{Kind: wire.Kind(d.CmdArgs[0].Key), Timestep: lethe.Timestep(at)}
	messages := []wire.Message{{Key: key, Deleted: true}}
	if key.Kind == wire.KindModel {
		key.Shard = 1
		messages = append(messages, wire.Message{Key: key, Deleted: true})
	}
	require.NoError(tr.t, tr.role.arrive(tr.t, messages...))
}

// command asks for the suppression, or with purge=(timesteps) for the erasure, of
// what was taken out of the scenario so far.
func (tr *transcript) command(d *datadriven.TestData) {
	phase := wire.PhaseSuppress
	var steps []int
	if d.MaybeScanArgs(tr.t, "purge", &steps); steps != nil {
		phase = wire.PhasePurge
	}
	settled := int(sorted(tr.w.graphs)[len(tr.w.graphs)-1])
	d.MaybeScanArgs(tr.t, "settled", &settled)
	var at []lethe.Timestep
	for _, s := range steps {
		at = append(at, lethe.Timestep(s))
	}
	o := tr.w.command(phase, tr.gone, lethe.Timestep(settled), at...)
	d.MaybeScanArgs(tr.t, "attempt", &o.Attempt)
	if d.HasArg("search") {
		o.Phase = wire.PhaseSearch
	}
	require.NoError(tr.t, tr.role.commanded(tr.t, o))
}

// unnote takes back the note that a timestep was scored.
func (tr *transcript) unnote(at lethe.Timestep) {
	l := tr.role.logic.state.links[at]
	l.done = false
	if p, err := tr.role.logic.state.published(at); err == nil && p != nil && len(p.Late) > 0 {
		// Its late transactions were scored last.
		l.done, l.late, p.Late = true, true, nil
		require.NoError(tr.t, tr.store.Apply(func(w swapstore.Writer) error {
			w.Set(timestepkey.New(publishedPrefix, at), p.Encode())
			return nil
		}))
	}
	require.NoError(tr.t, tr.store.Apply(func(w swapstore.Writer) error {
		w.Set(timestepkey.New(snapshotPrefix, at), tr.w.graph(at).Payload)
		w.Set(timestepkey.New(linkPrefix, at), l.encode())
		return nil
	}))
}

func (tr *transcript) describe() string {
	var out strings.Builder
	s, state := tr.role.Status(), tr.role.logic.state
	served, done := "nothing", scored(tr.role.logic.state)
	if s.Ensemble != nil {
		served = fmt.Sprintf("the ensemble through %d", s.Ensemble.Through)
		if s.Ensemble.Version != tr.w.ensemble(s.Ensemble.Through) {
			served = "what was " + served
		}
	}
	fmt.Fprintf(&out, "serves %s; scored %d, waiting %d", served, done, len(state.links)-done)
	if !state.fits() {
		out.WriteString("; does not fit")
	}
	out.WriteString("\n")
	counts := make(map[string]int)
	ids := make(map[string]string)
	for _, p := range predictions(tr.t, tr.topics) {
		late := ""
		if p.Late {
			late = ", late"
		} else {
			require.Less(tr.t, p.TrainedThrough, p.Timestep, "scored by an ensemble that has seen its labels")
		}
		text := fmt.Sprint(*p)
		if ids[p.ID] != "" {
			require.Equal(tr.t, ids[p.ID], text, "one id, two predictions")
			counts[fmt.Sprintf("  timestep %d through %d%s, again", p.Timestep, p.TrainedThrough, late)]++
			continue
		}
		ids[p.ID] = text
		counts[fmt.Sprintf("  timestep %d through %d%s", p.Timestep, p.TrainedThrough, late)]++
	}
	for _, line := range sorted(counts) {
		fmt.Fprintf(&out, "%s: %d\n", line, counts[line])
	}
	if a := acks(tr.t, tr.topics); len(a) > 0 {
		out.WriteString("  acknowledged")
		for _, step := range sorted(a) {
			fmt.Fprintf(&out, " %s %d×", step, a[step])
		}
		out.WriteString("\n")
	}
	return out.String()
}

// scored counts the timesteps dealt with.
func scored(s *state) int {
	n := 0
	for _, at := range s.links {
		if at.done {
			n++
		}
	}
	return n
}
