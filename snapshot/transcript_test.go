package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/snapshot"
)

// harness executes the commands of a transcript.
type harness struct {
	fs    vfs.FS
	store *snapshot.Store
}

func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata/transcripts", func(t *testing.T, path string) {
		h := &harness{fs: vfs.NewMem()}
		defer func() {
			if h.store != nil {
				require.NoError(t, h.store.Close())
			}
		}()
		datadriven.RunTest(t, path, func(t *testing.T, td *datadriven.TestData) string {
			out, err := h.run(t, td)
			if err != nil {
				return out + "error: " + err.Error() + "\n"
			}
			return out
		})
	})
}

func (h *harness) run(t *testing.T, td *datadriven.TestData) (string, error) {
	ctx := context.Background()
	switch td.Cmd {
	case "open":
		return h.open(t, td)
	case "transactions", "labels", "control":
		return h.consume(t, td)
	case "ready":
		toClose, toSettle := h.store.Ready()
		return fmt.Sprintf("close %d settle %d\n", toClose, toSettle), nil
	case "close":
		at := h.timestep(t, td)
		if err := snapshot.CloseTimestep(ctx, h.store, at); err != nil {
			return "", err
		}
		return h.show(at)
	case "settle":
		at := h.timestep(t, td)
		if err := h.store.SettleTimestep(ctx, at, inTurn); err != nil {
			return "", err
		}
		return h.show(at)
	case "reopen":
		at := h.timestep(t, td)
		changed, err := h.store.ReopenTimestep(ctx, at, inTurn)
		if err != nil || !changed {
			return "unchanged\n" + h.letters(t), err
		}
		return h.show(at)
	case "waiting":
		return fmt.Sprintf("%d\n", h.store.Waiting()), nil
	case "gone":
		return fmt.Sprintf("%v\n", h.store.Gone()), nil
	case "show":
		return h.show(h.timestep(t, td))
	case "confirm":
		all, err := h.store.Letters().Unconfirmed()
		require.NoError(t, err)
		return "", h.store.Letters().Confirm(len(all))
	case "timesteps":
		return formatInfos(h.store.Timesteps()), nil
	case "watermarks":
		return fmt.Sprintf("transactions %d labels %d\n", snapshot.Watermark(h.store, snapshot.Transactions),
			snapshot.Watermark(h.store, snapshot.Labels)), nil
	case "offsets":
		return fmt.Sprintln(h.store.Offsets()), nil
	case "erase":
		return "", h.store.Erase(ctx, targets(td.Input))
	case "repartition":
		again := snapshot.Redeal{Timestep: h.timestep(t, td), Renew: td.HasArg("renew")}
		return "", h.store.Repartition(ctx, []snapshot.Redeal{again}, inTurn)
	case "locate":
		return h.locate(td)
	case "carries":
		return h.carries(t, td)
	}
	return "", fmt.Errorf("no command %q", td.Cmd)
}

func (h *harness) open(t *testing.T, td *datadriven.TestData) (string, error) {
	if h.store != nil {
		require.NoError(t, h.store.Close())
		h.store = nil
	}
	o := snapshot.Options{
		Secret: lethe.Secret{1}, FS: h.fs, TransactionPartitions: 1, LabelPartitions: 1,
		Config: snapshot.Defaults(),
	}
	o.FeatureCount = 2
	td.MaybeScanArgs(t, "partitions", &o.TransactionPartitions)
	td.MaybeScanArgs(t, "label-partitions", &o.LabelPartitions)
	td.MaybeScanArgs(t, "lateness", &o.AllowedLatenessTimesteps)
	td.MaybeScanArgs(t, "label-lateness", &o.LabelLatenessTimesteps)
	td.MaybeScanArgs(t, "features", &o.FeatureCount)
	td.MaybeScanArgs(t, "jump", &o.MaxTimestepJump)
	td.MaybeScanArgs(t, "late", &o.Late)
	td.MaybeScanArgs(t, "max-waiting", &o.MaxWaiting)
	td.MaybeScanArgs(t, "max-open", &o.MaxOpenTimesteps)
	td.MaybeScanArgs(t, "reopen-timesteps", &o.ReopenTimesteps)
	var first int
	td.MaybeScanArgs(t, "first", &first)
	o.FirstTimestep = lethe.Timestep(first)
	if td.HasArg("other-secret") {
		o.Secret[0]++
	}
	var err error
	dir := "data"
	td.MaybeScanArgs(t, "data", &dir)
	h.store, err = snapshot.Open(dir, o)
	return "", err
}

// consume takes one batch. Offsets follow on from the stored one, unless the
// argument offset says where a second delivery starts.
func (h *harness) consume(t *testing.T, td *datadriven.TestData) (string, error) {
	source := snapshot.Source{Stream: snapshot.Transactions, Topic: "transactions"}
	switch td.Cmd {
	case "labels":
		source = snapshot.Source{Stream: snapshot.Labels, Topic: "labels"}
	case "control":
		source = snapshot.Source{Topic: "erasures"}
	}
	td.MaybeScanArgs(t, "partition", &source.Partition)
	offset := h.store.Offsets()[snapshot.TopicPartition{Topic: source.Topic, Partition: source.Partition}]
	td.MaybeScanArgs(t, "offset", &offset)
	b, err := h.store.Begin(source)
	if err != nil {
		return "", err
	}
	if td.HasArg("bounded") {
		b.BoundOpen()
	}
	var out strings.Builder
	for line := range strings.Lines(td.Input) {
		line = strings.TrimSpace(line)
		o := snapshot.Origin{Topic: source.Topic, Partition: source.Partition, Offset: offset, Value: []byte(line)}
		o.InPlace = td.HasArg("in-place")
		offset++
		v, err := h.take(b, line, o)
		if err != nil {
			return out.String(), err
		}
		if v.Outcome == "" {
			continue
		}
		fmt.Fprintf(&out, "%s: %s", line, v.Outcome)
		if v.Late {
			out.WriteString(" late")
		}
		if v.Refusal != nil {
			fmt.Fprintf(&out, " %s (%s)", v.Refusal.Reason, v.Refusal.Detail)
		}
		out.WriteString("\n")
	}
	if td.HasArg("forget") {
		return out.String(), nil
	}
	return out.String(), b.Commit(offset)
}

// take gives one line to the batch: "id@timestep features", "a>b@timestep",
// "id@timestep label" or "end timestep". Subjects follow a timestep, each after a %.
func (h *harness) take(b *snapshot.Batch, line string, o snapshot.Origin) (snapshot.Verdict, error) {
	subject, rest, _ := strings.Cut(line, " ")
	if subject == "end" {
		v, err := b.Control(parseTimestep(rest), o)
		if v.Outcome == snapshot.Accepted {
			return snapshot.Verdict{}, nil // an end that counts is not worth a line
		}
		return v, err
	}
	name, at, _ := strings.Cut(subject, "@")
	at, carried, _ := strings.Cut(at, "%")
	subjects := strings.FieldsFunc(carried, func(r rune) bool { return r == '%' })
	t := parseTimestep(at)
	if source, target, isPayment := strings.Cut(name, ">"); isPayment {
		return b.Payment(lethe.Payment{Source: lethe.TransactionID(source), Target: lethe.TransactionID(target), Timestep: t},
			o, subjects...)
	}
	if label, err := lethe.ParseLabel(rest); err == nil {
		return b.Label(lethe.LabelRecord{ID: lethe.TransactionID(name), Timestep: t, Label: label}, o)
	}
	tr := lethe.Transaction{ID: lethe.TransactionID(name), Timestep: t, Subjects: subjects}
	for f := range strings.FieldsSeq(rest) {
		v, err := strconv.ParseFloat(f, 32)
		if err != nil {
			return snapshot.Verdict{}, errors.New("bad feature in transcript")
		}
		tr.Features = append(tr.Features, float32(v))
	}
	return b.Transaction(tr, o)
}

func (h *harness) timestep(t *testing.T, td *datadriven.TestData) lethe.Timestep {
	require.NotEmpty(t, td.CmdArgs)
	return parseTimestep(td.CmdArgs[0].Key)
}

func (h *harness) locate(td *datadriven.TestData) (string, error) {
	located, err := h.store.Locate(targets(td.Input))
	var out strings.Builder
	for i, l := range located {
		fmt.Fprintf(&out, "%s: suppressed %t", strings.Fields(td.Input)[i], l.Suppressed)
		if l.Kind == lethe.SubjectTarget {
			fmt.Fprintf(&out, ", carried by %d, %d of several subjects, under %d keys\n",
				len(l.Carried), len(l.Several), len(l.Keys))
			continue
		}
		if l.Known {
			fmt.Fprintf(&out, ", in timestep %d, %s %v", l.Timestep, l.State, l.Row)
		}
		if l.Kind == lethe.PaymentTarget {
			fmt.Fprintf(&out, ", named %t, under %d keys", l.Named, len(l.Keys))
		}
		out.WriteString("\n")
	}
	return out.String(), err
}

// carries says which of some subjects go with targets, and behind a slash with features of them.
func (h *harness) carries(t *testing.T, td *datadriven.TestData) (string, error) {
	var subjects []string
	td.ScanArgs(t, "subjects", &subjects)
	var out strings.Builder
	found := func(target lethe.Target) error {
		found, err := h.store.Marks().Subjects().Of(target)
		for _, subject := range subjects {
			if slices.Contains(found, lethe.Secret{1}.HeldSubject(lethe.Secret{1}.SubjectPseudonym(subject))) {
				fmt.Fprintf(&out, " %s", subject)
			}
		}
		return err
	}
	for i, target := range targets(td.Input) {
		fmt.Fprintf(&out, "%s:", strings.Fields(td.Input)[i])
		err := found(target)
		if target.Kind == lethe.TransactionTarget {
			out.WriteString(" /")
			err = errors.Join(err, found(lethe.FeaturesOf(target.Transaction)))
		}
		if err != nil {
			return out.String(), err
		}
		out.WriteString("\n")
	}
	return out.String(), nil
}
