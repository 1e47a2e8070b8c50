package closed

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/deletions/scan"
	"lethe/internal/fuzzing"
	"lethe/snapshot/stored"
)

func newFolder(t testing.TB) Folder {
	t.Helper()
	d := Folder{vfs.NewMem(), "data"}
	require.NoError(t, d.FS.MkdirAll(d.Dir, 0o700))
	return d
}

// pair is a graph of two transactions of one feature and a payment from the first to the second.
func pair(t lethe.Timestep, feature float32) *lethe.Snapshot {
	return &lethe.Snapshot{
		Timestep: t, Revision: 1, FeatureCount: 1, Features: []float32{feature, 2},
		Nodes:    []lethe.SnapshotNode{{Pseudonym: lethe.Pseudonym{1}, ID: "a"}, {Pseudonym: lethe.Pseudonym{2}, ID: "b"}},
		Payments: []lethe.Arc{{Source: 0, Target: 1}},
	}
}

// Whatever is asked of the files is what the graph has.
func TestGraphsComeBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := newFolder(t)
		n := rapid.IntRange(0, 40).Draw(rt, "nodes")
		g := &lethe.Snapshot{Timestep: 3, Revision: 1, FeatureCount: rapid.IntRange(0, 3).Draw(rt, "features")}
		g.Nodes, g.Features = []lethe.SnapshotNode{}, []float32{}
		shards := make([]lethe.ShardID, n)
		for i := range n {
			id := rapid.StringN(1, 9, -1).Draw(rt, "id")
			g.Nodes = append(g.Nodes, lethe.SnapshotNode{Pseudonym: lethe.Pseudonym{byte(2 * i)}, ID: lethe.TransactionID(id)})
			for range g.FeatureCount {
				g.Features = append(g.Features, rapid.Float32().Draw(rt, "feature"))
			}
			shards[i] = lethe.ShardID(rapid.IntRange(0, 9).Draw(rt, "shard"))
			for j := range n {
				if i != j && rapid.IntRange(0, 9).Draw(rt, "pays") == 0 {
					g.Payments = append(g.Payments, lethe.Arc{Source: uint32(i), Target: uint32(j)})
				}
			}
		}
		require.NoError(rt, d.Write(g))
		unlabelled, none, err := d.Of(3, Files{Graph: 1}).Read()
		require.NoError(rt, err)
		require.Nil(rt, none)
		unlabelled.Revision = 1
		require.Equal(rt, g, unlabelled)

		for i := range g.Nodes {
			g.Nodes[i].Label = lethe.Label(rapid.IntRange(0, lethe.NumLabels-1).Draw(rt, "label"))
		}
		require.NoError(rt, d.Assign(g, shards))
		of := d.Of(3, Files{1, 1})
		again, assigned, err := of.Read()
		require.NoError(rt, err)
		again.Revision = 1
		require.Equal(rt, g, again)
		require.Equal(rt, shards, assigned)
		for i := range 2 * n {
			p := lethe.Pseudonym{byte(i)}
			row, found, err := of.Row(p)
			require.NoError(rt, err)
			require.Equal(rt, i%2 == 0, found)
			label, assigned, err := of.Label(p)
			require.NoError(rt, err)
			require.Equal(rt, found, assigned)
			if found {
				require.Equal(rt, stored.Row{ID: g.Nodes[i/2].ID, Features: g.Row(i / 2)}.Encode(), row)
				require.Equal(rt, g.Nodes[i/2].Label, label)
			}
			for j := range 2 * n {
				has, err := of.HasPayment(p, lethe.Pseudonym{byte(j)})
				require.NoError(rt, err)
				want := false
				for _, a := range g.Payments {
					want = want || int(2*a.Source) == i && int(2*a.Target) == j
				}
				require.Equal(rt, want, has)
			}
		}
	})
}

// An erased id that is part of another one was found in the other one's row, where the bytes of the row before looked
// like the beginning of a record as its producer wrote it: such an erasure never ended.
func TestPartsOfLongerIDsAreNotFound(t *testing.T) {
	secret := lethe.Secret{1}
	prints, err := scan.IDFingerprints(secret, "order-1")
	require.NoError(t, err)
	scanner, err := scan.NewScanner(secret, prints)
	require.NoError(t, err)
	for _, last := range []uint32{1, 1 << 24, 0, 0x01010101} { // the last feature of each row
		d, g := newFolder(t), &lethe.Snapshot{Timestep: 1, Revision: 1, FeatureCount: 2}
		for i := range 40 {
			id := lethe.TransactionID("order-1" + strings.Repeat("|", 1+i))
			g.Nodes = append(g.Nodes, lethe.SnapshotNode{Pseudonym: secret.Pseudonym(id), ID: id})
			g.Features = append(g.Features, float32(i), math.Float32frombits(last))
		}
		slices.SortFunc(g.Nodes, func(a, b lethe.SnapshotNode) int { return bytes.Compare(a.Pseudonym[:], b.Pseudonym[:]) })
		require.NoError(t, d.Write(g))
		require.Empty(t, scanner.ScanBytes(contentOf(t, d, "t000001.1.graph")), "%x", last)
		g.Nodes[7].ID = "order-1"
		g.Nodes[7].Pseudonym = secret.Pseudonym("order-1")
		require.NoError(t, d.Write(g))
		require.NotEmpty(t, scanner.ScanBytes(contentOf(t, d, "t000001.1.graph")))
	}
}

func TestOnlyInvalidFilesAreRemoved(t *testing.T) {
	d := newFolder(t)
	for _, g := range []*lethe.Snapshot{pair(1, 1), pair(2, 1), pair(1234567, 1)} {
		require.NoError(t, d.Write(g))
		require.NoError(t, d.Assign(g, []lethe.ShardID{0, 1}))
	}
	for _, other := range []string{"t000001.1.other", "t1.1.graph", "tools", "staging"} {
		require.NoError(t, d.FS.MkdirAll(d.path(other), 0o700))
	}
	n, err := d.Count()
	require.NoError(t, err)
	require.Equal(t, 3, n)
	require.NoError(t, d.Require(1, Files{1, 1}))
	require.NoError(t, d.Remove(1234567, Files{1, 1}, Files{Graph: 1}))
	require.NoError(t, d.RemoveUnlisted(func(t lethe.Timestep) Files {
		return map[lethe.Timestep]Files{1: {1, 1}, 1234567: {Graph: 1}}[t]
	}))
	names, err := d.FS.List("data")
	require.NoError(t, err)
	require.ElementsMatch(t, []string{
		"t000001.1.graph", "t000001.1.assigned", "t1234567.1.graph", "t000001.1.other", "t1.1.graph", "tools", "staging",
	}, names)
	require.ErrorContains(t, d.Require(1234567, Files{1, 1}), "holds no t1234567.1.assigned (put the folder back")
	n, err = Folder{d.FS, "nowhere"}.Count()
	require.NoError(t, err)
	require.Zero(t, n)
}

func contentOf(t testing.TB, d Folder, name string) []byte {
	t.Helper()
	f, err := d.FS.Open(d.path(name))
	require.NoError(t, err)
	content, err := io.ReadAll(f)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return content
}

func replace(t testing.TB, d Folder, name string, content []byte) {
	t.Helper()
	f, err := d.FS.Create(d.path(name), vfs.WriteCategoryUnspecified)
	require.NoError(t, err)
	_, err = f.Write(bytes.Clone(content))
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// Every byte of a file is checked before anything is made of it.
func TestDamageIsFound(t *testing.T) {
	for _, name := range []string{"t000005.1.graph", "t000005.1.assigned"} {
		d, g := newFolder(t), pair(5, 1)
		require.NoError(t, d.Write(g))
		require.NoError(t, d.Assign(g, []lethe.ShardID{4, 5}))
		whole := contentOf(t, d, name)
		for at := range whole {
			if at == len(whole)-endBytes {
				continue // the version
			}
			changed := bytes.Clone(whole)
			changed[at] ^= 4
			replace(t, d, name, changed)
			_, _, err := d.Of(5, Files{1, 1}).Read()
			require.ErrorIs(t, err, stored.ErrCorrupt, fmt.Sprint(at))
			require.ErrorContains(t, err, "the store in data is damaged: "+name+" is not what was written (put ")
		}
		replace(t, d, name, whole[:3])
		_, _, err := d.Of(5, Files{1, 1}).Read()
		require.ErrorIs(t, err, stored.ErrCorrupt)
	}
}

// FuzzDecode decodes the content of a file of a graph.
func FuzzDecode(f *testing.F) {
	d := newFolder(f)
	require.NoError(f, d.Write(pair(0, 1)))
	whole := contentOf(f, d, "t000000.1.graph")
	fuzzing.Plain(f, func(content []byte) error {
		_, err := Graph{}.decode(content)
		return err
	}, whole[:len(whole)-endBytes])
}
