package canonical_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/canonical"
)

func sampleSlice() *lethe.Slice {
	return &lethe.Slice{
		Timestep: 7, Previous: lethe.NoTimestep, Shard: 3, FeatureCount: 2,
		Nodes:    []lethe.Pseudonym{{1}, {2}, {9}},
		Labels:   []lethe.Label{lethe.Licit, lethe.Unknown, lethe.Illicit},
		Features: []float32{1, -2, 3.5, 0, 1e-20, 7},
		Edges:    []lethe.Edge{{A: 0, B: 2}},
		Stubs:    []lethe.Stub{{Owner: 1, Lambda: 0.25}},
	}
}

func sampleSnapshot() *lethe.Snapshot {
	return &lethe.Snapshot{
		Timestep: 7, Revision: 4, FeatureCount: 1,
		Nodes: []lethe.SnapshotNode{
			{Pseudonym: lethe.Pseudonym{1}, ID: "a", Label: lethe.Illicit},
			{Pseudonym: lethe.Pseudonym{2}, ID: "bb"},
		},
		Features: []float32{0.5, -1},
		Payments: []lethe.Arc{{Source: 0, Target: 1}, {Source: 1, Target: 0}},
	}
}

func TestRoundTrip(t *testing.T) {
	slice, err := canonical.DecodeSlice(canonical.EncodeSlice(sampleSlice()))
	require.NoError(t, err)
	require.Equal(t, sampleSlice(), slice)

	want := sampleSnapshot()
	snapshot, err := canonical.DecodeSnapshot(canonical.EncodeSnapshot(want))
	require.NoError(t, err)
	want.Revision = 0
	require.Equal(t, want, snapshot)
}

// A digest that is computed without the message is that of the message.
func TestDigestsAreThoseOfTheMessages(t *testing.T) {
	for _, features := range []int{2, 5000, 1 << 13, 1<<13 + 1, 30000} {
		slice, snapshot := sampleSlice(), sampleSnapshot()
		slice.FeatureCount = features
		slice.Features = make([]float32, len(slice.Nodes)*features)
		for i := range slice.Features {
			slice.Features[i] = float32(i)
		}
		require.Equal(t, canonical.DigestOf(canonical.EncodeSlice(slice)), canonical.DigestSlice(slice))
		require.Equal(t, canonical.DigestOf(canonical.EncodeSnapshot(snapshot)), canonical.DigestSnapshot(snapshot))
	}
}

func TestRevisionIsNotPartOfTheBytes(t *testing.T) {
	a, b := sampleSnapshot(), sampleSnapshot()
	b.Revision++
	require.Equal(t, canonical.EncodeSnapshot(a), canonical.EncodeSnapshot(b))
}

func TestEveryTruncationAndEveryFlipIsRefused(t *testing.T) {
	for name, message := range map[string][]byte{
		"slice":    canonical.EncodeSlice(sampleSlice()),
		"snapshot": canonical.EncodeSnapshot(sampleSnapshot()),
	} {
		decode := func(b []byte) error {
			if name == "slice" {
				_, err := canonical.DecodeSlice(b)
				return err
			}
			_, err := canonical.DecodeSnapshot(b)
			return err
		}
		require.NoError(t, decode(message))
		for n := range message {
			require.ErrorIs(t, decode(message[:n]), canonical.ErrCorrupt, "%s cut to %d bytes", name, n)
			flipped := append([]byte(nil), message...)
			flipped[n] ^= 0x10
			require.ErrorIs(t, decode(flipped), canonical.ErrCorrupt, "%s with byte %d flipped", name, n)
		}
	}
}

func TestUnknownVersionIsToldApart(t *testing.T) {
	message := canonical.NewWriter("LSLC", 99).Seal()
	_, err := canonical.DecodeSlice(message)
	require.ErrorIs(t, err, canonical.ErrVersion)
}

// A message with a right checksum but wild counts must fail without asking for
// the memory that the counts promise.
func TestSealedNonsenseIsRefused(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := canonical.NewWriter("LSLC", 1)
		w.Bytes(rapid.SliceOfN(rapid.Byte(), 0, 80).Draw(rt, "body"))
		message := w.Seal()
		if s, err := canonical.DecodeSlice(message); err == nil {
			require.Equal(rt, message, canonical.EncodeSlice(s))
		} else {
			require.ErrorIs(rt, err, canonical.ErrCorrupt)
		}
	})
}
