package wire_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/canonical"
	"lethe/pipeline/wire"
)

func drawManifest(rt *rapid.T) *wire.Manifest {
	m := &wire.Manifest{
		Timestep: lethe.Timestep(rapid.Int64Range(0, 1<<40).Draw(rt, "timestep")),
		Previous: lethe.Timestep(rapid.Int64Range(-1, 1<<40).Draw(rt, "previous")),
		Slices:   make([]lethe.Digest, rapid.IntRange(0, 5).Draw(rt, "slices")),
		Labels:   make([]wire.NodeLabel, rapid.IntRange(0, 5).Draw(rt, "labels")),
	}
	for i := range m.Slices {
		m.Slices[i] = canonical.DigestOf([]byte{rapid.Uint8().Draw(rt, "digest")})
	}
	for i := range m.Labels {
		m.Labels[i].Pseudonym[0], m.Labels[i].Pseudonym[15] = byte(i), rapid.Byte().Draw(rt, "pseudonym")
		m.Labels[i].Label = lethe.Label(rapid.IntRange(0, lethe.NumLabels-1).Draw(rt, "label"))
	}
	return m
}

func TestManifestRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := drawManifest(rt)
		message := m.Encode()
		back, err := wire.DecodeManifest(message)
		require.NoError(rt, err)
		require.Equal(rt, m, back)
		require.Equal(rt, message, back.Encode())
	})
}

// A manifest that was cut short or altered anywhere must not be believed: it
// says which models are the right ones.
func TestManifestDamageIsNoticed(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		message := drawManifest(rt).Encode()
		cut := rapid.IntRange(0, len(message)-1).Draw(rt, "cut")
		_, err := wire.DecodeManifest(message[:cut])
		require.ErrorIs(rt, err, canonical.ErrCorrupt)
		at := rapid.IntRange(0, len(message)-1).Draw(rt, "at")
		message[at] ^= 1 << rapid.IntRange(0, 7).Draw(rt, "bit")
		_, err = wire.DecodeManifest(message)
		require.Error(rt, err)
	})
}

// A right checksum does not make a manifest one that Encode could have written.
func TestForgedManifestsAreRefused(t *testing.T) {
	label := func(first byte, l lethe.Label) wire.NodeLabel {
		return wire.NodeLabel{Pseudonym: lethe.Pseudonym{first}, Label: l}
	}
	for name, labels := range map[string][]wire.NodeLabel{
		"a label of no kind": {label(1, 48)},
		"not ascending":      {label(2, lethe.Licit), label(1, lethe.Licit)},
		"twice":              {label(1, lethe.Licit), label(1, lethe.Illicit)},
	} {
		_, err := wire.DecodeManifest((&wire.Manifest{Labels: labels}).Encode())
		require.ErrorIs(t, err, canonical.ErrCorrupt, name)
	}
}

func TestLabelsOfLeavesOutTheUnknown(t *testing.T) {
	s := &lethe.Snapshot{Nodes: []lethe.SnapshotNode{
		{Pseudonym: lethe.Pseudonym{1}, Label: lethe.Unknown},
		{Pseudonym: lethe.Pseudonym{2}, Label: lethe.Illicit},
		{Pseudonym: lethe.Pseudonym{3}, Label: lethe.Licit},
	}}
	require.Equal(t, []wire.NodeLabel{
		{Pseudonym: lethe.Pseudonym{2}, Label: lethe.Illicit}, {Pseudonym: lethe.Pseudonym{3}, Label: lethe.Licit},
	}, wire.LabelsOf(s))
}

func TestKeyRoundTrip(t *testing.T) {
	kinds := []wire.Kind{wire.KindSnapshot, wire.KindManifest, wire.KindSlice, wire.KindModel}
	rapid.Check(t, func(rt *rapid.T) {
		k := wire.Key{
			Kind:     rapid.SampledFrom(kinds).Draw(rt, "kind"),
			Timestep: lethe.Timestep(rapid.Int64Min(0).Draw(rt, "timestep")),
		}
		if k.Kind == wire.KindSlice || k.Kind == wire.KindModel {
			k.Shard = lethe.ShardID(rapid.Uint32().Draw(rt, "shard"))
		}
		back, err := wire.ParseKey(k.String())
		require.NoError(rt, err)
		require.Equal(rt, k, back)
	})
}

func TestParseKeyRefusesWhatStringDoesNotWrite(t *testing.T) {
	for _, text := range []string{
		"", "slice", "slice/1", "slice/1/2/3", "slice/-1/2", "slice/4294967296/2", "slice/1/x", "snapshot",
		"snapshot/1/2", "snapshot/", "manifest/9223372036854775808", "tensor/1",
	} {
		_, err := wire.ParseKey(text)
		require.Error(t, err, "%q", text)
	}
}

// Slices and models of a shard must meet in one partition, or their order is
// lost.
func TestPartitionOfDependsOnTheShardOnly(t *testing.T) {
	seen := make(map[int]bool)
	for shard := range lethe.ShardID(20) {
		p := wire.PartitionOf(shard, 4)
		require.Less(t, p, 4)
		seen[p] = true
	}
	require.Len(t, seen, 4, "partitions are left unused")
}
