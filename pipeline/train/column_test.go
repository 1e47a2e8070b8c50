package train

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/internal/residue"
	"lethe/internal/timestepkey"
	"lethe/pipeline/wire"
	"lethe/scoring"
	"lethe/scoring/ensemble"
	"lethe/trainer"
	"lethe/trainer/kernels"
)

// A column as a transcript: slices that arrive in any order, training, and
// reopening as after a kill. Each command prints where the column stands.
func TestColumn(t *testing.T) {
	engine, err := trainer.NewEngine(smallModel(), kernels.Default())
	require.NoError(t, err)
	var c *column
	dir := filepath.Join(t.TempDir(), "shard-0000")
	open := func() {
		var err error
		c, err = openFolder(vfs.Default, dir, 0)
		require.NoError(t, err)
	}
	open()
	t.Cleanup(func() { require.NoError(t, c.store.Close()) })
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
			require.NoError(t, c.accept(wire.Received{Message: m, Next: int64(next)}))
		case "gone":
			var at, next int
			d.ScanArgs(t, "t", &at)
			d.ScanArgs(t, "next", &next)
			m := wire.Message{Key: wire.Key{Kind: wire.KindSlice, Timestep: lethe.Timestep(at)}, Deleted: true}
			require.NoError(t, c.accept(wire.Received{Message: m, Next: int64(next)}))
		case "train":
			for at, ok := c.next(); ok; at, ok = c.next() {
				trainWithoutPublishing(t, engine, c, at)
			}
		case "forget":
			require.NoError(t, c.forget())
		case "reopen":
			require.NoError(t, c.store.Close())
			open()
		default:
			t.Fatalf("no command %s", d.Cmd)
		}
		return describe(t, c)
	})
}

// trainWithoutPublishing does what the role does up to where it publishes.
func trainWithoutPublishing(t *testing.T, engine *trainer.Engine, c *column, at lethe.Timestep) {
	t.Helper()
	window, err := c.windowAt(smallModel(), at)
	require.NoError(t, err)
	runner := ensemble.Runner{Engine: engine, Describe: scoring.Describe}
	step, err := runner.Column(0).Advance(t.Context(), c.newest, window)
	require.NoError(t, err)
	require.NoError(t, c.trainedThrough(trained{at, step.Checkpoint}))
}

func describe(t *testing.T, c *column) string {
	t.Helper()
	var out strings.Builder
	out.WriteString("slices")
	for _, at := range c.timesteps {
		fmt.Fprintf(&out, " %d@%d", at, c.links[at].revision)
	}
	next := "none"
	if at, ok := c.next(); ok {
		next = fmt.Sprint(at)
	}
	fmt.Fprintf(&out, "; trained %d, next %s, unsent %v, resumes at %d", c.trained, next, c.unsent, c.offset)
	if len(c.withdrawn) > 0 {
		fmt.Fprintf(&out, ", to be deleted %v", c.withdrawn)
	}
	out.WriteString("\n")
	return out.String()
}

// A replaced slice and what was trained on it leave no byte in the column's
// files.
func TestReplaceLeavesNoByteOfTheOldSlice(t *testing.T) {
	engine, err := trainer.NewEngine(smallModel(), kernels.Default())
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "shard-0000")
	c, err := openFolder(vfs.Default, dir, 0)
	require.NoError(t, err)
	p := planOf(0, 3)
	for _, m := range p.messages(1) {
		require.NoError(t, c.accept(wire.Received{Message: m}))
	}
	for at, ok := c.next(); ok; at, ok = c.next() {
		trainWithoutPublishing(t, engine, c, at)
	}
	old := map[string][]byte{"slice": canonical.EncodeSlice(p.slices[1])}
	for at := lethe.Timestep(2); at <= 3; at++ {
		checkpoint, err := c.checkpoint(at)
		require.NoError(t, err)
		old[fmt.Sprintf("checkpoint after %d", at)] = trainer.EncodeCheckpoint(checkpoint)
	}
	require.Len(t, traces(t, dir, old), 3, "the search finds nothing even before")
	p.slices[1] = sliceOf(0, 2, 1, 9)
	require.NoError(t, c.accept(wire.Received{Message: p.messages(2)[1]}))
	require.Empty(t, traces(t, dir, old))
	require.NoError(t, c.store.Close())
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
