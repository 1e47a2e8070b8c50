package challenge_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/audit/challenge"
)

// An honest deployment answers every challenge, before and after an erasure.
func TestHonestDeploymentsAreFoundHonest(t *testing.T) {
	d := deployed(t, "honest", networks(2), regressions())
	for erasures := range 2 {
		r := d.ask(t, everything(t, d))
		require.Empty(t, r.Problems)
		require.Len(t, r.Pairs, shardsOfTests*timestepsOfTests)
		require.Equal(t, shardsOfTests*timestepsOfTests+2, r.Models, "of every network each, of the regressions the newest")
		require.False(t, r.Ensemble.IsZero())
		require.Equal(t, erasures, r.Requests)
		require.Zero(t, r.UnderWay)
		d.erase(t, challenge.Pair{Shard: 1, Timestep: lethe.Timestep(2 + erasures)}, cheat{})
	}
}

// What a deployment leaves out is found by the challenge at the erased timestep, always,
// and by the others that these texts in docs/audit.md name, and by no others.
func TestWhatIsLeftOutIsFound(t *testing.T) {
	const window = 2
	erased := challenge.Pair{Shard: 1, Timestep: 2}
	for name, test := range map[string]struct {
		how cheat
		// until is the last timestep of the shard that a challenge finds it at.
		until lethe.Timestep
		says  string
	}{
		"one old model kept":             {cheat{keepsModels: 1}, 2, "leaf 50 replaces a slice"},
		"all old models kept":            {cheat{keepsModels: timestepsOfTests}, 3, "training it anew gives other bytes"},
		"trained again on the old slice": {cheat{onOldSlices: true}, 3, "training it anew gives other bytes"},
		"the slice holds the record": {
			cheat{keepsSlice: true}, 3, "holds a transaction that the request of leaf 49 has erased",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := deployed(t, "cheat", networks(window))
			d.erase(t, erased, test.how)
			for shard := range lethe.ShardID(shardsOfTests) {
				for at := range lethe.Timestep(timestepsOfTests) {
					r := d.ask(t, d.at(t, challenge.Pair{Shard: shard, Timestep: at}))
					finds := shard == erased.Shard && at >= erased.Timestep && at <= test.until
					require.Equal(t, finds, !r.OK, "shard %d timestep %d: %v", shard, at, r.Problems)
					if shard == erased.Shard && at == erased.Timestep {
						require.Len(t, r.Problems, 1)
						require.Contains(t, r.Problems[0], test.says)
					}
				}
			}
		})
	}
}

// Models that are fitted anew stand for their whole window: any challenge at one of their
// shards finds what was left out.
func TestAnyChallengeAtTheGroupFindsAnOldFit(t *testing.T) {
	d := deployed(t, "fit", regressions())
	d.erase(t, challenge.Pair{Shard: 1, Timestep: 2}, cheat{keepsModels: timestepsOfTests})
	for at := range lethe.Timestep(timestepsOfTests) {
		require.False(t, d.ask(t, d.at(t, challenge.Pair{Shard: 0, Timestep: at})).OK)
		require.True(t, d.ask(t, d.at(t, challenge.Pair{Shard: 2, Timestep: at})).OK)
	}
}

// Random challenges of K pairs find what b of N pairs show with the probability that
// docs/audit.md derives, 1 - C(N-b, K)/C(N, K). Each of the 1,000 is drawn, answered and
// checked.
func TestRandomChallengesFindWithTheProbabilityDerived(t *testing.T) {
	if testing.Short() {
		t.Skip("trains some thousand small models")
	}
	const draws, count, window, shown = 1000, 4, 2, 2
	const population = shardsOfTests * timestepsOfTests
	d := deployed(t, "random", networks(window))
	d.erase(t, challenge.Pair{Shard: 1, Timestep: 2}, cheat{keepsModels: timestepsOfTests})
	found := 0
	c := everything(t, d)
	c.Count = count
	for seed := range uint64(draws) {
		c.Seed = seed
		r := d.ask(t, c)
		require.Len(t, r.Pairs, count)
		if !r.OK {
			found++
		}
	}
	missed := 1.0
	for i := range count {
		missed *= float64(population-shown-i) / float64(population-i)
	}
	want := 1 - missed
	deviation := math.Sqrt(want * (1 - want) / draws)
	t.Logf("found %d of %d, derived %.3f ± %.3f", found, draws, want, deviation)
	require.InDelta(t, want, float64(found)/draws, 3.5*deviation)
}

// A draw of several pairs gives each the same chance and none twice.
func TestDrawsAreEven(t *testing.T) {
	d := deployed(t, "even", networks(1))
	c := everything(t, d)
	c.Count = 3
	times := make(map[challenge.Pair]int)
	const draws = 2400
	for seed := range uint64(draws) {
		c.Seed = seed
		pairs, err := c.Draw(d.view)
		require.NoError(t, err)
		require.Len(t, pairs, 3)
		for i, p := range pairs {
			times[p]++
			require.True(t, i == 0 || pairs[i-1].Compare(p) < 0)
		}
	}
	require.Len(t, times, shardsOfTests*timestepsOfTests)
	for p, n := range times {
		require.InDelta(t, 300, n, 4*math.Sqrt(300), "%v", p)
	}
}

// The pairs follow from the log: another root is another draw.
func TestDrawsFollowFromTheLog(t *testing.T) {
	a, b := deployed(t, "a", networks(1)), deployed(t, "a", networks(2))
	ca, cb := everything(t, a), everything(t, b)
	ca.Count, cb.Count = 8, 8
	pa, err := ca.Draw(a.view)
	require.NoError(t, err)
	pb, err := cb.Draw(b.view)
	require.NoError(t, err)
	require.NotEqual(t, pa, pb)
	none := lethe.ShardID(99)
	ca.Shard = &none
	_, err = ca.Draw(a.view)
	require.ErrorContains(t, err, "no slice of shard 99")
}

func TestChallengesAreReadAsTheyAreWritten(t *testing.T) {
	d := deployed(t, "read", networks(1))
	shard := lethe.ShardID(2)
	c := challenge.Challenge{Checkpoint: d.checkpoint(t), Seed: math.MaxUint64, Count: 3, Shard: &shard}
	text, err := c.Encode()
	require.NoError(t, err)
	again, err := challenge.Decode(text)
	require.NoError(t, err)
	require.Equal(t, c, again)
	_, err = challenge.Decode([]byte(`{"format":"lethe-challenge/1","checkpoint":"x","seed":1,"count":1}`))
	require.ErrorIs(t, err, challenge.ErrChallenge)
}
