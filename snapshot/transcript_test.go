package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/snapshot"
)

// desk executes the commands of a transcript.
type desk struct {
	fs    vfs.FS
	store *snapshot.Store
}

func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata/transcripts", func(t *testing.T, path string) {
		d := &desk{fs: vfs.NewMem()}
		defer func() {
			if d.store != nil {
				require.NoError(t, d.store.Close())
			}
		}()
		datadriven.RunTest(t, path, func(t *testing.T, td *datadriven.TestData) string {
			out, err := d.run(t, td)
			if err != nil {
				return out + "error: " + err.Error() + "\n"
			}
			return out
		})
	})
}

func (d *desk) run(t *testing.T, td *datadriven.TestData) (string, error) {
	ctx := context.Background()
	switch td.Cmd {
	case "open":
		return d.open(t, td)
	case "transactions", "labels", "control":
		return d.consume(t, td)
	case "ready":
		toClose, toSettle := d.store.Ready()
		return fmt.Sprintf("close %d settle %d\n", toClose, toSettle), nil
	case "close":
		g, refused, err := d.store.CloseTimestep(ctx, d.timestep(t, td))
		if err != nil {
			return "", err
		}
		return formatSnapshot(g, nil) + formatRefused(refused), nil
	case "settle":
		c, refused, err := d.store.SettleTimestep(ctx, d.timestep(t, td), inTurn)
		if err != nil {
			return "", err
		}
		return formatContent(c) + formatRefused(refused), nil
	case "show":
		c, err := d.store.Load(d.timestep(t, td))
		if err != nil {
			return "", err
		}
		return formatContent(c), nil
	case "refused":
		refused, err := d.store.Refused(d.timestep(t, td))
		return formatRefused(refused), err
	case "confirm":
		return "", d.store.ConfirmRefused(d.timestep(t, td))
	case "timesteps":
		return formatInfos(d.store.Timesteps()), nil
	case "watermarks":
		return fmt.Sprintf("transactions %d labels %d\n", d.store.Watermark(snapshot.Transactions),
			d.store.Watermark(snapshot.Labels)), nil
	case "offsets":
		return fmt.Sprintln(d.store.Offsets()), nil
	case "erase":
		infos, err := d.store.Erase(ctx, ids(td.Input))
		return formatInfos(infos), err
	case "locate":
		return d.locate(td)
	case "compact":
		return "", d.store.Compact(ctx)
	}
	return "", fmt.Errorf("no command %q", td.Cmd)
}

func (d *desk) open(t *testing.T, td *datadriven.TestData) (string, error) {
	if d.store != nil {
		require.NoError(t, d.store.Close())
		d.store = nil
	}
	o := snapshot.Options{
		Secret: lethe.Secret{1}, FS: d.fs, TransactionPartitions: 1, LabelPartitions: 1,
		Config: snapshot.Defaults(),
	}
	o.OpenStores = 1
	td.MaybeScanArgs(t, "partitions", &o.TransactionPartitions)
	td.MaybeScanArgs(t, "label-partitions", &o.LabelPartitions)
	td.MaybeScanArgs(t, "lateness", &o.AllowedLatenessTimesteps)
	td.MaybeScanArgs(t, "label-lateness", &o.LabelLatenessTimesteps)
	td.MaybeScanArgs(t, "features", &o.FeatureCount)
	td.MaybeScanArgs(t, "jump", &o.MaxTimestepJump)
	var first int
	td.MaybeScanArgs(t, "first", &first)
	o.FirstTimestep = lethe.Timestep(first)
	if td.HasArg("other-secret") {
		o.Secret[0]++
	}
	var err error
	d.store, err = snapshot.Open("data", o)
	return "", err
}

// consume takes one batch. Offsets follow on from the stored one, unless the
// argument offset says where a second delivery starts.
func (d *desk) consume(t *testing.T, td *datadriven.TestData) (string, error) {
	source := snapshot.Source{Stream: snapshot.Transactions, Topic: "transactions"}
	switch td.Cmd {
	case "labels":
		source = snapshot.Source{Stream: snapshot.Labels, Topic: "labels"}
	case "control":
		source = snapshot.Source{Topic: "erasures"}
	}
	td.MaybeScanArgs(t, "partition", &source.Partition)
	offset := d.store.Offsets()[snapshot.TopicPartition{Topic: source.Topic, Partition: source.Partition}]
	td.MaybeScanArgs(t, "offset", &offset)
	b, err := d.store.Begin(source)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for line := range strings.Lines(td.Input) {
		line = strings.TrimSpace(line)
		o := snapshot.Origin{Topic: source.Topic, Partition: source.Partition, Offset: offset, Value: []byte(line)}
		offset++
		v, err := d.take(b, line, o)
		if err != nil {
			return out.String(), err
		}
		if v.Outcome == 0 {
			continue
		}
		fmt.Fprintf(&out, "%s: %s", line, v.Outcome)
		if v.Refused != nil {
			fmt.Fprintf(&out, " %s (%s)", v.Refused.Reason, v.Refused.Detail)
		}
		out.WriteString("\n")
	}
	if td.HasArg("forget") {
		return out.String(), nil
	}
	return out.String(), b.Commit(offset)
}

// take gives one line to the batch: "id@timestep features", "a>b@timestep",
// "id@timestep label", "end timestep" or "mark key value".
func (d *desk) take(b *snapshot.Batch, line string, o snapshot.Origin) (snapshot.Verdict, error) {
	subject, rest, _ := strings.Cut(line, " ")
	if subject == "end" {
		v, err := b.Control(parseTimestep(rest), o)
		if v.Outcome == snapshot.Accepted {
			return snapshot.Verdict{}, nil // an end that counts is not worth a line
		}
		return v, err
	}
	if subject == "mark" {
		key, value, _ := strings.Cut(rest, " ")
		return snapshot.Verdict{}, b.Mark([]byte(key), []byte(value))
	}
	name, at, _ := strings.Cut(subject, "@")
	t := parseTimestep(at)
	if source, target, isPayment := strings.Cut(name, ">"); isPayment {
		return b.Payment(lethe.Payment{Source: lethe.TransactionID(source), Target: lethe.TransactionID(target), Timestep: t},
			o)
	}
	if label, err := lethe.ParseLabel(rest); err == nil {
		return b.Label(lethe.LabelRecord{ID: lethe.TransactionID(name), Timestep: t, Label: label}, o)
	}
	tr := lethe.Transaction{ID: lethe.TransactionID(name), Timestep: t}
	for f := range strings.FieldsSeq(rest) {
		v, err := strconv.ParseFloat(f, 32)
		if err != nil {
			return snapshot.Verdict{}, errors.New("bad feature in transcript")
		}
		tr.Features = append(tr.Features, float32(v))
	}
	return b.Transaction(tr, o)
}

func (d *desk) timestep(t *testing.T, td *datadriven.TestData) lethe.Timestep {
	require.NotEmpty(t, td.CmdArgs)
	return parseTimestep(td.CmdArgs[0].Key)
}

func (d *desk) locate(td *datadriven.TestData) (string, error) {
	located, err := d.store.Locate(ids(td.Input))
	var out strings.Builder
	for _, l := range located {
		fmt.Fprintf(&out, "%s: known %t timestep %d %s %v payments %v labels %v\n",
			l.ID, l.Known, l.Timestep, l.State, l.Features, l.Payments, l.Labels)
	}
	return out.String(), err
}

func parseTimestep(s string) lethe.Timestep {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return -7
	}
	return lethe.Timestep(n)
}

func ids(input string) (out []lethe.TransactionID) {
	for _, id := range strings.Fields(input) {
		out = append(out, lethe.TransactionID(id))
	}
	return out
}

// inTurn deals nodes to two shards.
func inTurn(g *lethe.Snapshot) ([]lethe.ShardID, error) {
	shards := make([]lethe.ShardID, len(g.Nodes))
	for i := range shards {
		shards[i] = lethe.ShardID(i % 2)
	}
	return shards, nil
}

func formatSnapshot(g *lethe.Snapshot, shards []lethe.ShardID) string {
	var out strings.Builder
	fmt.Fprintf(&out, "timestep %d revision %d\n", g.Timestep, g.Revision)
	for i, n := range g.Nodes {
		fmt.Fprintf(&out, "  %s %v %s", n.ID, g.Row(i), n.Label)
		if shards != nil {
			fmt.Fprintf(&out, " shard %d", shards[i])
		}
		out.WriteString("\n")
	}
	for _, p := range g.Payments {
		fmt.Fprintf(&out, "  %s > %s\n", g.Nodes[p.Source].ID, g.Nodes[p.Target].ID)
	}
	return out.String()
}

func formatContent(c *snapshot.Content) string {
	return fmt.Sprintf("%s previous %d: ", c.Info.State, c.Info.Previous) + formatSnapshot(c.Snapshot, c.Assignment)
}

func formatRefused(refused []snapshot.Refused) string {
	var out strings.Builder
	for _, r := range refused {
		fmt.Fprintf(&out, "refused %s/%d@%d %q: %s (%s)\n",
			r.Origin.Topic, r.Origin.Partition, r.Origin.Offset, r.Origin.Value, r.Reason, r.Detail)
	}
	return out.String()
}

func formatInfos(infos []snapshot.Info) string {
	var out strings.Builder
	for _, i := range infos {
		fmt.Fprintf(&out, "%d %s revision %d: %d nodes %d payments %d labels, previous %d\n",
			i.Timestep, i.State, i.Revision, i.Nodes, i.Payments, i.Labels, i.Previous)
	}
	return out.String()
}
