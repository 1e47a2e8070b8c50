package scan

import (
	"bytes"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
)

// Each sieve is the last word on its own: a scanner whose rolling hash or MAC
// is off by one bit finds nothing where the others agree.
func TestEveryFilterCanReject(t *testing.T) {
	secret := lethe.Secret{8}
	needle := bytes.Repeat([]byte("needle "), 12)
	for _, n := range []int{20, len(needle)} {
		f, err := NewFingerprint(secret, KindBytes, needle[:n])
		require.NoError(t, err)
		for name, spoil := range map[string]func(*Scanner){
			"rolling": func(sc *Scanner) {
				for i := range sc.entries {
					sc.entries[i].rolling ^= 1
				}
			},
			"mac": func(sc *Scanner) { sc.fingerprints[0].MAC[0] ^= 1 },
		} {
			sc, err := NewScanner(secret, []Fingerprint{f})
			require.NoError(t, err)
			require.Len(t, sc.ScanBytes(needle[:n]), 1)
			spoil(sc)
			require.Empty(t, sc.ScanBytes(needle[:n]), name)
		}
	}
}

func TestModularArithmeticAgreesWithBigIntegers(t *testing.T) {
	p := big.NewInt(prime)
	rapid.Check(t, func(rt *rapid.T) {
		a := rapid.Uint64Range(0, prime-1).Draw(rt, "a")
		b := rapid.Uint64Range(0, prime-1).Draw(rt, "b")
		bigA, bigB := new(big.Int).SetUint64(a), new(big.Int).SetUint64(b)
		product := new(big.Int).Mul(bigA, bigB)
		require.Equal(rt, product.Mod(product, p).Uint64(), mulmod(a, b))
		exponent := rapid.IntRange(0, 1<<16).Draw(rt, "exponent")
		power := new(big.Int).Exp(bigA, big.NewInt(int64(exponent)), p)
		require.Equal(rt, power.Uint64(), powmod(a, exponent))
	})
	require.Equal(t, uint64(1), mulmod(prime-1, prime-1))
	require.Equal(t, uint64(0), mulmod(0, prime-1))
}

func TestWindowHashAgreesWithHashingTheWindow(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		base := rapid.Uint64Range(256, prime-1).Draw(rt, "base")
		buf := rapid.SliceOfN(rapid.Byte(), 1, 60).Draw(rt, "buf")
		from := rapid.IntRange(0, len(buf)-1).Draw(rt, "from")
		to := rapid.IntRange(from, len(buf)).Draw(rt, "to")
		b := rollingBaseOf(base)
		want := byDefinition(base, buf[from:to])
		require.Equal(rt, want, b.hash(buf[from:to]))
		require.Equal(rt, want, b.windowHash(b.prefixHashes(nil, buf), buf, from, to, powmod(base, to-from)))
	})
}

// byDefinition adds up the terms of the rolling hash as they are defined.
func byDefinition(base uint64, window []byte) uint64 {
	p, sum := big.NewInt(prime), new(big.Int)
	for i, c := range window {
		power := new(big.Int).Exp(new(big.Int).SetUint64(base), big.NewInt(int64(len(window)-1-i)), p)
		sum.Add(sum, power.Mul(power, big.NewInt(int64(c))))
	}
	return sum.Mod(sum, p).Uint64()
}
