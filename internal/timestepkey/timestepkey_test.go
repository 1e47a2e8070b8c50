package timestepkey_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/internal/timestepkey"
)

func TestKeysSortByTimeAndAreReadBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		prefix := rapid.String().Draw(rt, "prefix")
		a := lethe.Timestep(rapid.Int64Min(0).Draw(rt, "a"))
		b := lethe.Timestep(rapid.Int64Min(int64(a)).Draw(rt, "b"))
		first, second := timestepkey.New(prefix, a), timestepkey.New([]byte(prefix), b)
		require.LessOrEqual(rt, bytes.Compare(first, second), 0)
		got, err := timestepkey.Parse(prefix, second)
		require.NoError(rt, err)
		require.Equal(rt, b, got)

		longer := slices.Concat(second, []byte("rest"))
		_, err = timestepkey.Parse(prefix, longer)
		require.Error(rt, err)
		got, rest, err := timestepkey.Cut(prefix, longer)
		require.NoError(rt, err)
		require.Equal(rt, b, got)
		require.Equal(rt, "rest", string(rest))
		_, _, err = timestepkey.Cut(prefix, first[:len(first)-1])
		require.Error(rt, err)
	})
}

func TestAnotherPrefixIsRefused(t *testing.T) {
	_, _, err := timestepkey.Cut("a/", timestepkey.New("b/", 1))
	require.EqualError(t, err, `key of 10 bytes is not "a/" and a timestep`)
}
