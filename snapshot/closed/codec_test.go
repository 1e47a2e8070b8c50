package closed

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/internal/fuzzing"
	"lethe/snapshot/stored"
)

func TestDescriptionsComeBackWhole(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := Description{
			Revision: 2, FeatureCount: 165, Nodes: rapid.IntRange(0, 1<<40).Draw(rt, "nodes"), Payments: 5, Labelled: 6,
		}
		got, err := decodeDescription(want.encode())
		require.NoError(rt, err)
		require.Equal(rt, want, got)
		cut := rapid.IntRange(1, len(want.encode())-1).Draw(rt, "cut")
		_, err = decodeDescription(want.encode()[:cut])
		require.ErrorIs(rt, err, stored.ErrCorrupt)
	})
}

// FuzzDecodeValue decodes a stored value as every kind that it may be.
func FuzzDecodeValue(f *testing.F) {
	fuzzing.Plain(f, func(value []byte) error {
		_, err := decodeDescription(value)
		if _, _, assigned := decodeAssigned(value); assigned == nil {
			return nil
		}
		return err
	}, Description{Nodes: 1}.encode(), encodeAssigned(lethe.Licit, 3))
}
