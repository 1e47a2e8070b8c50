package score

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/pipeline/wire"
	"lethe/trainer/kernels"
)

// transcript drives a role by hand: one message after the other, as Run does.
type transcript struct {
	t      *testing.T
	w      *world
	r      *Role
	dir    string
	lag    int
	client *bus.Client
	gone   []lethe.TransactionID
	next   int64
}

// The role as transcripts: what arrives, in which order, and what it serves and
// publishes then. Predictions are told by timestep and the timestep through
// which their ensemble was trained.
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata/transcripts", func(t *testing.T, path string) {
		client := cluster(t)
		tr := &transcript{t: t, dir: t.TempDir(), client: client}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			tr.t = t
			return tr.do(d)
		})
		require.NoError(t, tr.r.Close())
	})
}

func (tr *transcript) do(d *datadriven.TestData) string {
	switch d.Cmd {
	case "world":
		var steps int
		d.ScanArgs(tr.t, "steps", &steps)
		d.MaybeScanArgs(tr.t, "lag", &tr.lag)
		tr.w = newWorld(tr.t, lethe.Timestep(steps))
		for _, a := range d.CmdArgs {
			if a.Key == "window" {
				tr.w.options.Schedule = "window"
			}
		}
		tr.open()
	case "stale":
		// Read again after a restart: what was there before the erasure.
		var at int
		d.ScanArgs(tr.t, "t", &at)
		source := bus.TopicPartition{Topic: bus.Snapshots}
		stale := tr.w.stale[lethe.Timestep(at)]
		require.NoError(tr.t, tr.r.takeSnapshot(source, tr.received(stale[0])))
		require.NoError(tr.t, tr.r.takeManifest(source, tr.received(stale[1])))
		tr.settle()
	case "graph", "manifest", "models":
		tr.arrive(d)
	case "erase":
		var at, node int
		d.ScanArgs(tr.t, "t", &at)
		d.ScanArgs(tr.t, "node", &node)
		tr.gone = append(tr.gone, tr.w.erase(lethe.Timestep(at), node))
		return fmt.Sprintf("slices of shards %v change\n", tr.w.replaced(lethe.Timestep(at)))
	case "order":
		tr.order(d)
	case "portable":
		// The training role moved to another processor and trained anew.
		var err error
		tr.w.kernels, err = kernels.Named(kernels.PortableName)
		require.NoError(tr.t, err)
	case "lag":
		d.ScanArgs(tr.t, "timesteps", &tr.lag)
		tr.reopen()
	case "kill":
		tr.reopen()
	case "forget-scored":
		// What a kill between publishing and noting leaves.
		var at int
		d.ScanArgs(tr.t, "t", &at)
		tr.unnote(lethe.Timestep(at))
		tr.reopen()
	default:
		tr.t.Fatalf("no command %s", d.Cmd)
	}
	return tr.describe()
}

func (tr *transcript) open() {
	o := optionsFor(tr.dir, tr.client)
	o.LabelLag, o.Trainer = tr.lag, tr.w.options
	var err error
	tr.r, err = New(o)
	require.NoError(tr.t, err)
	require.NoError(tr.t, tr.r.advance(tr.t.Context()))
}

func (tr *transcript) reopen() {
	require.NoError(tr.t, tr.r.Close())
	tr.open()
}

// arrive hands messages over, then lets the role do what it can.
func (tr *transcript) arrive(d *datadriven.TestData) {
	var steps, of []int
	d.ScanArgs(tr.t, "t", &steps)
	if d.MaybeScanArgs(tr.t, "shards", &of); of == nil {
		of = []int{0, 1}
	}
	for _, step := range steps {
		at := lethe.Timestep(step)
		source := bus.TopicPartition{Topic: bus.Snapshots}
		switch d.Cmd {
		case "graph":
			require.NoError(tr.t, tr.r.takeSnapshot(source, tr.received(tr.w.graph(at))))
		case "manifest":
			require.NoError(tr.t, tr.r.takeManifest(source, tr.received(tr.w.manifest(at))))
		default:
			for _, shard := range of {
				require.NoError(tr.t, tr.r.takeModel(bus.TopicPartition{Topic: bus.Models}, tr.received(tr.w.model(lethe.ShardID(shard), at))))
			}
		}
	}
	tr.settle()
}

func (tr *transcript) received(m wire.Message) wire.Received {
	tr.next++
	return wire.Received{Message: m, Next: tr.next}
}

// settle does what Run does after each batch.
func (tr *transcript) settle() {
	require.NoError(tr.t, tr.r.advance(tr.t.Context()))
	require.NoError(tr.t, tr.r.acknowledge(tr.t.Context()))
	tr.r.publishStatus()
}

// order asks for the suppression, or with purge=(timesteps) for the erasure, of
// what was taken out of the world so far.
func (tr *transcript) order(d *datadriven.TestData) {
	phase := wire.PhaseSuppress
	var steps []int
	if d.MaybeScanArgs(tr.t, "purge", &steps); steps != nil {
		phase = wire.PhasePurge
	}
	settled := len(tr.w.graphs)
	d.MaybeScanArgs(tr.t, "settled", &settled)
	var at []lethe.Timestep
	for _, s := range steps {
		at = append(at, lethe.Timestep(s))
	}
	o := tr.w.order(phase, tr.gone, lethe.Timestep(settled), at...)
	d.MaybeScanArgs(tr.t, "attempt", &o.Attempt)
	rec, err := o.Record()
	require.NoError(tr.t, err)
	require.NoError(tr.t, tr.r.takeNotices(bus.Batch{Records: []ingest.Record{{Key: rec.Key, Value: rec.Value}}}))
	tr.settle()
}

// unnote takes back the note that a timestep was scored.
func (tr *transcript) unnote(at lethe.Timestep) {
	l := tr.r.state.links[at]
	l.done = false
	require.NoError(tr.t, tr.r.state.store.Apply(func(w swapstore.Writer) error {
		if err := w.Set(timestepKey(snapshotPrefix, at), tr.w.graph(at).Payload); err != nil {
			return err
		}
		return w.Set(timestepKey(linkPrefix, at), l.encode())
	}))
}

func (tr *transcript) describe() string {
	var out strings.Builder
	s := tr.r.status.Load()
	served := "nothing"
	if s.Ensemble != nil {
		served = fmt.Sprintf("the ensemble through %d", s.Ensemble.Through)
		if s.Ensemble.Version != tr.w.ensemble(s.Ensemble.Through) {
			served = "what was " + served
		}
	}
	fmt.Fprintf(&out, "serves %s; scored %d, waiting %d", served, s.scored, s.waiting)
	if !s.fits {
		out.WriteString("; does not fit")
	}
	out.WriteString("\n")
	counts := make(map[string]int)
	ids := make(map[string]string)
	for _, p := range predictions(tr.t, tr.client) {
		require.Less(tr.t, p.TrainedThrough, p.Timestep, "scored by an ensemble that has seen its labels")
		text := fmt.Sprint(*p)
		if ids[p.ID] != "" {
			require.Equal(tr.t, ids[p.ID], text, "one id, two predictions")
			counts[fmt.Sprintf("  timestep %d through %d, again", p.Timestep, p.TrainedThrough)]++
			continue
		}
		ids[p.ID] = text
		counts[fmt.Sprintf("  timestep %d through %d", p.Timestep, p.TrainedThrough)]++
	}
	for _, line := range sorted(counts) {
		fmt.Fprintf(&out, "%s: %d\n", line, counts[line])
	}
	if a := acks(tr.t, tr.client); len(a) > 0 {
		out.WriteString("  acknowledged")
		for _, step := range sorted(a) {
			fmt.Fprintf(&out, " %s %d×", step, a[step])
		}
		out.WriteString("\n")
	}
	return out.String()
}
