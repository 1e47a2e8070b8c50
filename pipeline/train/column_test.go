package train

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/ingest/bus"
	"lethe/internal/residue"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
)

// A column as a transcript: slices that arrive in any order, training, and
// reopening as after a kill. Each command prints where the column stands.
func TestColumn(t *testing.T) {
	var l *logic
	o := ofOneShard(t.TempDir(), topics())
	reopen := func() {
		var err error
		l, err = open(o)
		require.NoError(t, err)
	}
	reopen()
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	datadriven.RunTest(t, "testdata/column", func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "accept":
			var at, previous, revision, next int
			d.ScanArgs(t, "t", &at)
			d.ScanArgs(t, "previous", &previous)
			d.ScanArgs(t, "revision", &revision)
			d.ScanArgs(t, "next", &next)
			s := sliceOf(0, lethe.Timestep(at), lethe.Timestep(previous), uint64(revision))
			m := wire.Message{
				Key:      wire.Key{Kind: wire.KindSlice, Timestep: s.Timestep, Shard: s.Shard},
				Revision: lethe.Revision(revision), Payload: canonical.EncodeSlice(s),
			}
			_, err := l.columns[0].accept(wire.Received{Message: m, Next: int64(next)})
			require.NoError(t, err)
			if !d.HasArg("together") { // with the next one
				require.NoError(t, l.columns[0].flush())
			}
		case "gone":
			var at, next int
			d.ScanArgs(t, "t", &at)
			d.ScanArgs(t, "next", &next)
			m := wire.Message{Key: wire.Key{Kind: wire.KindSlice, Timestep: lethe.Timestep(at)}, Deleted: true}
			_, err := l.columns[0].accept(wire.Received{Message: m, Next: int64(next)})
			require.NoError(t, err)
			require.NoError(t, l.columns[0].flush())
		case "train":
			trainWithoutPublishing(t, l)
		case "forget":
			require.NoError(t, l.models[0].forget())
		case "reopen":
			require.NoError(t, l.Close())
			reopen()
		default:
			t.Fatalf("no command %s", d.Cmd)
		}
		return describe(t, l)
	})
}

// trainWithoutPublishing does what the role does up to where it publishes.
func trainWithoutPublishing(t *testing.T, l *logic) {
	t.Helper()
	_, err := l.Resume(bus.TopicPartition{Topic: bus.Slices}, 1)
	require.NoError(t, err)
	require.NoError(t, l.settle(t.Context()))
	for l.due(l.models[0]) {
		require.NoError(t, l.advance(t.Context(), time.Now))
	}
}

func describe(t *testing.T, l *logic) string {
	t.Helper()
	var out strings.Builder
	c, m := l.columns[0], l.models[0]
	out.WriteString("slices")
	for _, at := range c.timesteps {
		fmt.Fprintf(&out, " %d@%d", at, c.links[at].revision)
	}
	next := "none"
	if at := m.next(m.newest()); at != lethe.NoTimestep {
		next = fmt.Sprint(at)
	}
	fmt.Fprintf(&out, "; trained %d, next %s, keeps %v, resumes at %d", m.newest(), next, m.kept, c.offset)
	out.WriteString("\n")
	return out.String()
}

// A replaced slice and what was trained on it leave no byte in the column's
// files.
func TestReplaceLeavesNoByteOfTheOldSlice(t *testing.T) {
	o := ofOneShard(t.TempDir(), topics())
	l, err := open(o)
	require.NoError(t, err)
	c, dir := l.columns[0], shardDir(o.Dir, 0)
	accept := func(m wire.Message) {
		_, err := c.accept(wire.Received{Message: m})
		require.NoError(t, err)
		require.NoError(t, c.flush())
	}
	p := planOf(0, 3)
	for _, m := range p.messages(1) {
		accept(m)
	}
	trainWithoutPublishing(t, l)
	old := map[string][]byte{"slice": canonical.EncodeSlice(p.slices[1])}
	for at := lethe.Timestep(2); at <= 3; at++ {
		checkpoint, err := l.models[0].value(at)
		require.NoError(t, err)
		old[fmt.Sprintf("checkpoint after %d", at)] = checkpoint
	}
	require.Len(t, traces(t, dir, old), 3, "the search finds nothing even before")
	p.slices[1] = sliceOf(0, 2, 1, 9)
	accept(p.messages(2)[1])
	require.Empty(t, traces(t, dir, old))
	require.NoError(t, l.Close())
}

// traces lists which of the messages have a piece in the files of a folder.
func traces(t *testing.T, dir string, messages map[string][]byte) map[string]bool {
	t.Helper()
	var pieces []residue.Form
	for name, m := range messages {
		pieces = append(pieces, residue.Form{Name: name, Bytes: m[len(m)/2 : len(m)/2+24]})
	}
	report, err := residue.Search(pieces, dir)
	require.NoError(t, err)
	out := make(map[string]bool)
	for _, h := range report.Hits {
		out[h.Form] = true
	}
	return out
}

func TestStoredSliceDamage(t *testing.T) {
	for n := range linkBytes {
		_, _, err := splitStoredSlice(make([]byte, n))
		require.Error(t, err)
	}
	link := sliceLink{revision: 7, previous: lethe.NoTimestep}
	back, message, err := splitStoredSlice(storedSlice(link, []byte("slice")))
	require.NoError(t, err)
	require.Equal(t, link, back)
	require.Equal(t, "slice", string(message))
	_, err = timestepkey.Parse(slicePrefix, []byte(slicePrefix+"1234567"))
	require.Error(t, err)
}

// counting counts the writes of a store.
type counting struct {
	role.Store
	writes int
}

func (c *counting) Apply(fn func(w swapstore.Writer) error) error {
	c.writes++
	return c.Store.Apply(fn)
}

// Slices that arrive together wait for the disk once, also if they replace others or come
// twice, and stand, and are learnt from, as if they had come one by one.
func TestSlicesThatArriveTogetherAreOneWrite(t *testing.T) {
	stored := func(together bool) (string, int) {
		o := ofOneShard(t.TempDir(), topics())
		l, err := open(o)
		require.NoError(t, err)
		defer func() { require.NoError(t, l.Close()) }()
		c, p := l.columns[0], planOf(0, 4)
		for _, m := range p.messages(1) {
			_, err := c.accept(wire.Received{Message: m, Next: 1})
			require.NoError(t, err)
			require.NoError(t, c.flush())
		}
		trainWithoutPublishing(t, l)
		counted := &counting{Store: c.store}
		c.store = counted
		p.slices[2], p.slices[1] = sliceOf(0, 3, 2, 9), sliceOf(0, 2, 1, 9)
		messages := p.messages(2)
		for i, m := range []wire.Message{messages[2], messages[1], messages[2], p.messages(1)[3]} {
			replaced, err := c.accept(wire.Received{Message: m, Next: int64(i) + 2})
			require.NoError(t, err)
			require.Equal(t, i < 2, replaced)
			if !together {
				require.NoError(t, c.flush())
			}
		}
		require.NoError(t, c.flush())
		writes, before := counted.writes, describe(t, l)
		trainWithoutPublishing(t, l)
		for at := lethe.Timestep(1); at <= 4; at++ {
			value, err := l.models[0].value(at)
			require.NoError(t, err)
			before += canonical.DigestOf(value).String() + "\n"
		}
		return before, writes
	}
	one, many := stored(false)
	require.Equal(t, 4, many)
	all, once := stored(true)
	require.Equal(t, one, all)
	require.Equal(t, 1, once)
}

func FuzzSplitStoredSlice(f *testing.F) {
	f.Add(storedSlice(sliceLink{revision: 2, previous: 3}, []byte("slice")))
	f.Add(storedSlice(sliceLink{previous: lethe.NoTimestep}, nil))
	f.Fuzz(func(t *testing.T, value []byte) {
		if link, message, err := splitStoredSlice(value); err == nil && !bytes.Equal(storedSlice(link, message), value) {
			t.Fatalf("%d bytes are taken and written as others", len(value))
		}
	})
}
