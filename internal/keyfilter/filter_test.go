package keyfilter_test

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/internal/keyfilter"
)

// draw returns keys as pseudonyms are: evenly spread.
func draw(seed byte, n int) []keyfilter.Key {
	source := rand.NewChaCha8([32]byte{seed})
	keys := make([]keyfilter.Key, n)
	for i := range keys {
		_, _ = source.Read(keys[i][:])
	}
	return keys
}

// add adds keys, checks that all are had, and returns how many others are.
func add(t *testing.T, f *keyfilter.Filter, added, others []keyfilter.Key) (wrong int) {
	t.Helper()
	for _, k := range added {
		f.Add(k)
	}
	for i, k := range added {
		if !f.MayHave(k) {
			t.Fatalf("key %d of %d is missed", i, len(added))
		}
	}
	for _, k := range others {
		if f.MayHave(k) {
			wrong++
		}
	}
	return wrong
}

// What was added is had, however many parts there are, and hardly anything else.
func TestNothingThatWasAddedIsMissed(t *testing.T) {
	others := draw(2, 100_000)
	for bytes, most := range map[int]int{300 << 10: len(others) / 50, 1 << 20: len(others) / 1000} {
		f := keyfilter.New(bytes)
		require.False(t, f.MayHave(keyfilter.Key{}))
		for seed, n := range []int{100, 250_000, 200_000} {
			wrong := add(t, f, draw(byte(10+seed), n), others)
			require.Less(t, wrong, most, "others after %d more keys, of %d bytes", n, bytes)
		}
	}
}

// One of more keys than there is memory for misses none of them, and still tells some others.
func TestOneThatIsFullMissesNothing(t *testing.T) {
	f := keyfilter.New(0)
	others := draw(2, 10_000)
	require.Less(t, add(t, f, draw(3, 500_000), others), len(others))
}

// Of few keys it takes little memory, and of more all that it may, at once: then no key takes any.
func TestMemoryIsTakenAtOnce(t *testing.T) {
	const most, small = 16 << 20, 1100 << 10
	f, keys := keyfilter.New(most), draw(4, 400_000)
	taken := func(keys []keyfilter.Key) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for _, k := range keys {
			f.Add(k)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	require.Less(t, taken(keys[:250_000]), uint64(small))
	require.InDelta(t, most, taken(keys[250_000:250_001]), small)
	require.Less(t, taken(keys[250_001:]), uint64(small/100))
}
