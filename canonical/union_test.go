package canonical_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
)

// The digest of a union is that of its parts' digests and of nothing else in it.
func TestDigestOfAUnion(t *testing.T) {
	parts := []lethe.Digest{{1}, {2}, {3}}
	union := sampleSlice()
	union.Parts = parts
	want := canonical.DigestUnion(parts)
	require.Equal(t, want, canonical.DigestSlice(union))
	union.Shard++
	union.Labels[0] = lethe.Illicit
	require.Equal(t, want, canonical.DigestSlice(union))

	own := sampleSlice()
	digest := canonical.DigestSlice(own)
	require.NotEqual(t, digest, canonical.DigestUnion([]lethe.Digest{digest}), "a union of one is no shard's slice")
	for _, others := range [][]lethe.Digest{{{1}, {2}}, {{2}, {1}, {3}}, {{1}, {2}, {4}}, {}} {
		require.NotEqual(t, want, canonical.DigestUnion(others))
	}
}

func TestUnionsAreNotEncoded(t *testing.T) {
	union := sampleSlice()
	union.Parts = []lethe.Digest{{1}}
	require.PanicsWithValue(t, "canonical: a union of slices has no bytes of its own: it is never stored",
		func() { canonical.EncodeSlice(union) })
}
