package challenge_test

import (
	"bytes"
	"crypto/ed25519"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/audit/challenge"
	"lethe/canonical"
	"lethe/deletions"
	"lethe/deletions/translog"
	"lethe/trainer"
)

// What was altered, left out or taken from elsewhere is refused with the statement that
// fails.
func TestForgedBundlesAreRefused(t *testing.T) {
	erased := challenge.Pair{Shard: 1, Timestep: 2}
	d := deployed(t, "forged", networks(2), regressions())
	before := d.at(t, erased)
	old := d.answer(t, before)
	d.erase(t, erased, cheat{})
	c := d.at(t, erased)
	other := deployed(t, "other", networks(2), regressions())
	other.erase(t, erased, cheat{})

	for says, forge := range map[string]func(b *challenge.Bundle) *challenge.Bundle{
		"the slice of shard 0 at timestep 0 is not the one that the log commits to": func(
			b *challenge.Bundle,
		) *challenge.Bundle {
			s, err := canonical.DecodeSlice(b.Slices[0])
			require.NoError(t, err)
			s.Features[0]++
			b.Slices[0] = canonical.EncodeSlice(s)
			return b
		},
		"the model after timestep 1 is not the one that the log commits to": func(
			b *challenge.Bundle,
		) *challenge.Bundle {
			m, err := trainer.DecodeCheckpoint(b.Models[0])
			require.NoError(t, err)
			m.Params[0]++
			b.Models[0] = trainer.EncodeCheckpoint(m)
			return b
		},
		"the bundle has 11 slices and 1 models before, the challenge needs 12 and 1": func(
			b *challenge.Bundle,
		) *challenge.Bundle {
			b.Slices = b.Slices[1:]
			return b
		},
		"the bundle has 12 slices and 0 models before, the challenge needs 12 and 1": func(
			b *challenge.Bundle,
		) *challenge.Bundle {
			b.Models = nil
			return b
		},
		"leaves of the log, its checkpoint": func(b *challenge.Bundle) *challenge.Bundle {
			b.Leaves = b.Leaves[:len(b.Leaves)-1]
			return b
		},
		"the leaves are not those of the log: their root is not the checkpoint's": func(
			b *challenge.Bundle,
		) *challenge.Bundle {
			b.Leaves[1], b.Leaves[2] = b.Leaves[2], b.Leaves[1]
			return b
		},
		"the configuration of the models is not that of the log": func(b *challenge.Bundle) *challenge.Bundle {
			b.Setup = bytes.Replace(b.Setup, []byte(`"Passes":1`), []byte(`"Passes":2`), 1)
			return b
		},
		"are not opened": func(b *challenge.Bundle) *challenge.Bundle {
			b.Openings = nil
			return b
		},
		"is not what the leaf commits to": func(b *challenge.Bundle) *challenge.Bundle {
			b.Openings[0].Salts = []lethe.Digest{{1}}
			return b
		},
		"the bundle answers another challenge: another checkpoint, seed, number, shard or timestep": func(
			*challenge.Bundle,
		) *challenge.Bundle {
			return old
		},
		"the checkpoint of the bundle: the checkpoint is of another log": func(*challenge.Bundle) *challenge.Bundle {
			return other.answer(t, other.at(t, erased))
		},
	} {
		b := d.answer(t, c)
		b.Leaves, b.Slices = slices.Clone(b.Leaves), slices.Clone(b.Slices)
		r := d.check(t, forge(b), c)
		require.False(t, r.OK, says)
		require.NotEmpty(t, r.Problems)
		require.Contains(t, r.Problems[0], says)
	}
	require.Empty(t, d.check(t, d.answer(t, c), c).Problems)
	require.Empty(t, d.check(t, old, before).Problems)
}

// A bundle of another draw, or checked with another key, is refused.
func TestAnotherDrawOrKeyIsRefused(t *testing.T) {
	d := deployed(t, "draw", networks(2))
	c := everything(t, d)
	c.Count, c.Seed = 2, 1
	b := d.answer(t, c)
	c.Seed = 2
	require.Contains(t, d.check(t, b, c).Problems[0], "answers another challenge")
	c.Seed = 1
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, ed25519.SeedSize)).Public().(ed25519.PublicKey)
	r, err := challenge.Verify(t.Context(), b, c, challenge.Options{Key: key})
	require.NoError(t, err)
	require.Contains(t, r.Problems[0], "not signed by the key of this log")
}

// A log without the newest model, or without a shard's slice, is not passed over.
func TestWhatTheLogLacksIsSaid(t *testing.T) {
	d := deployed(t, "lacks", networks(2))
	p := challenge.Pair{Shard: 1, Timestep: timestepsOfTests}
	d.replaceSlice(t, p, sliceOf(p))
	setup, err := d.setup.Encode()
	require.NoError(t, err)
	_, err = challenge.Assemble(everything(t, d), d.leaves, setup, d)
	require.ErrorContains(t, err, "the log commits to slices of 1 of 4 shards at timestep 6")
	for _, shard := range []lethe.ShardID{0, 2, 3} {
		p.Shard = shard
		d.replaceSlice(t, p, sliceOf(p))
	}
	_, err = challenge.Assemble(d.at(t, p), d.leaves, setup, d)
	require.ErrorIs(t, err, challenge.ErrUnanswerable)
	require.ErrorContains(t, err, "the log commits to no model of component elliptic-gin, group 3 after timestep 6")
	require.True(t, d.ask(t, d.at(t, challenge.Pair{Shard: 1, Timestep: 5})).OK)
}

// A request that the log does not say was carried out is not looked for in slices: it is counted, and
// there is no receipt of it. A receipt of what is not in the log's words is found by any challenge.
func TestAReceiptOfWhatWasNotCarriedOutIsFound(t *testing.T) {
	p := challenge.Pair{Shard: 1, Timestep: 2}
	request := canonical.DigestOf([]byte{byte(p.Shard), byte(p.Timestep)})
	for _, says := range [][]deletions.State{{deletions.Accepted}, {deletions.Cancelled}} {
		d := deployed(t, "silent", networks(2))
		d.erase(t, p, cheat{keepsSlice: true, keepsModels: timestepsOfTests, says: says})
		r := d.ask(t, d.at(t, p))
		require.True(t, r.OK)
		require.Zero(t, r.Requests)
		require.Equal(t, says[0] == deletions.Accepted, r.UnderWay == 1)

		d.log(t, translog.Receipt{Request: request, Payload: lethe.Digest{1}})
		r = d.ask(t, d.at(t, challenge.Pair{Shard: 3, Timestep: 0}))
		require.Len(t, r.Problems, 1)
		require.Contains(t, r.Problems[0], "is a receipt of a request that is not verified there")
	}
	for says, leaf := range map[string]translog.Leaf{
		"is a receipt of a request": translog.Receipt{Request: lethe.Digest{9}, Payload: lethe.Digest{1}},
		"a request that no leaf before it has": translog.Transition{Request: lethe.Digest{9}, State: deletions.Cancelled,
			At: time.UnixMilli(1_700_000_000_000).UTC()},
	} {
		d := deployed(t, "stray", networks(2))
		d.log(t, leaf)
		require.Contains(t, d.ask(t, d.at(t, p)).Summary(), says)
	}
}

// Every byte of a bundle counts.
func TestAlteredBytesOfBundlesAreRefused(t *testing.T) {
	d := deployed(t, "bytes", networks(1))
	data := d.answer(t, d.at(t, challenge.Pair{Shard: 0, Timestep: 0})).Encode()
	for at := 0; at < len(data); at += 97 {
		altered := bytes.Clone(data)
		altered[at] ^= 4
		_, err := challenge.DecodeBundle(altered)
		require.Error(t, err)
		_, err = challenge.DecodeBundle(data[:at])
		require.Error(t, err)
	}
}
