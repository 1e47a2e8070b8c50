package service_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
	"lethe/deletions"
	"lethe/ingest/bus"
	"lethe/partition"
	"lethe/service/servicetest"
	"lethe/trainer"
)

var forgetSeed = flag.Uint64("forget.seed", 0, "replay the random erasures of this seed only; 0 runs several")

// forgetting is a service beside its mirror.
type forgetting struct {
	*running
	m *mirror
	// random chooses what is erased.
	random *rand.Rand
	erased []lethe.TransactionID
	number int
}

// I5: after every erasure the served models, all checkpoints and all slices are
// those of a build that leaves the records out, byte for byte, given the
// assignment of the others; with independent shards, and at scope partition, nothing is
// given. The first timesteps are erased from before the last
// ones arrive.
func TestForgettingEqualsABuildWithoutTheRecords(t *testing.T) {
	if testing.Short() {
		t.Skip("it compares bytes; what runs side by side in it does so in other tests, too")
	}
	for _, kind := range []struct {
		name     string
		seeds    []uint64
		scopes   []lethe.Scope
		oneHop   bool
		directed bool
		model    string
		networks bool // in the ensemble of a stack
	}{
		{"stubs", []uint64{1, 2, 3}, []lethe.Scope{lethe.ScopeStubs}, false, false, "", false},
		{"onehop", []uint64{7, 8}, []lethe.Scope{lethe.ScopeStubs}, true, false, "", false},
		{"trees", []uint64{9}, []lethe.Scope{lethe.ScopeStubs}, true, false, trainer.Trees, false},
		{"logistic", []uint64{10}, []lethe.Scope{lethe.ScopeStubs}, true, true, trainer.Logistic, false},
		{"blend", []uint64{11}, []lethe.Scope{lethe.ScopeStubs}, true, true, trainer.Blend, false},
		{"stack", []uint64{12, 13}, []lethe.Scope{lethe.ScopeStubs}, true, true, configs.Stack, true},
		{"default", []uint64{21}, []lethe.Scope{lethe.ScopeStubs}, true, true, configs.Stack, false},
		{"independent", []uint64{14, 15}, []lethe.Scope{lethe.ScopeStubs}, true, true, configs.Stack, true},
		{"shard", []uint64{4}, []lethe.Scope{lethe.ScopeShard}, false, false, "", false},
		{"partition", []uint64{16, 17}, []lethe.Scope{lethe.ScopePartition}, false, false, "", false},
		{"afresh", []uint64{18}, []lethe.Scope{lethe.ScopePartition}, true, true, configs.Stack, true},
		{"both", []uint64{19, 20}, []lethe.Scope{lethe.ScopeStubs, lethe.ScopePartition}, true, false, "", false},
		{"mixed", []uint64{5, 6}, []lethe.Scope{lethe.ScopeStubs, lethe.ScopeShard}, false, false, "", false},
	} {
		seeds, requests := kind.seeds, 4
		if testing.Short() {
			seeds, requests = seeds[:1], 2
		}
		if *forgetSeed != 0 {
			seeds = []uint64{*forgetSeed}
		}
		for _, seed := range seeds {
			t.Run(fmt.Sprintf("%s/seed=%d", kind.name, seed), func(t *testing.T) {
				t.Parallel()
				t.Logf("replay with: go test ./service -run Forgetting/%s -args -forget.seed=%d", kind.name, seed)
				c := servicetest.SmallConfig(t, t.TempDir())
				switch {
				case kind.networks:
					c = servicetest.SmallStack(t, c.DataDir)
					c.Scoring.LearnTimesteps = 2
				case kind.model == configs.Stack:
					c = servicetest.SmallDefault(t, c.DataDir)
					c.Scoring.LearnTimesteps = 2
				case kind.model != "":
					c = c.WithModel(kind.model)
				}
				if kind.name == partition.MethodIndependent {
					c.Partition.Method = partition.MethodIndependent
				}
				c.Repair.OneHop, c.Repair.OneHopDirected = kind.oneHop, kind.directed
				forgetAtRandom(t, c, seed, requests, kind.scopes)
			})
		}
	}
}

func forgetAtRandom(t *testing.T, c configs.Config, seed uint64, requests int, scopes []lethe.Scope) {
	stream := servicetest.SmallStream(t, 5, 60, seed)
	f := &forgetting{running: start(t, c), m: newMirror(t, c, stream), random: rand.New(rand.NewPCG(seed, 5))}
	// What has not arrived yet cannot be erased, so the stream comes in two parts.
	half := lethe.Timestep(2 + f.random.IntN(3))
	for _, part := range [][2]lethe.Timestep{{1, half}, {half + 1, 5}} {
		if part[0] > part[1] {
			continue
		}
		s := servicetest.Part(t, stream, part[0], part[1])
		f.Replay(s)
		for at := part[0]; at <= part[1]; at++ {
			f.m.settle(at)
		}
		requireEqual(f.running, f.m.build())
		for range requests / 2 {
			f.forget(scopes[f.random.IntN(len(scopes))], f.choose()...)
		}
	}
	want := f.m.build()
	if !slices.Contains(scopes, lethe.ScopeShard) {
		// Stronger, and without a notion of whom an erasure reaches: every slice
		// is what the remaining records give.
		for at := range f.m.slices {
			require.Equal(t, f.m.cut(at), f.m.slices[at])
		}
	}
	if c.Partition.Method == partition.MethodIndependent || slices.Equal(scopes, []lethe.Scope{lethe.ScopePartition}) {
		// Not given any assignment: as a build that never saw the records makes it.
		never := newMirror(t, c, stream)
		never.gone = f.m.gone
		never.settle(1, 2, 3, 4, 5)
		require.Equal(t, f.m.slices, never.slices)
		require.Equal(t, want, never.build())
	}
	f.Stop()
	stored(t, c, want)
}

// choose picks one to three transactions that have arrived, labelled or not,
// often neighbours of one that was erased or chosen before.
func (f *forgetting) choose() []lethe.TransactionID {
	var out []lethe.TransactionID
	add := func(list []lethe.TransactionID) {
		list = slices.DeleteFunc(list, func(id lethe.TransactionID) bool { return f.m.gone[id] || slices.Contains(out, id) })
		if len(list) > 0 {
			out = append(out, list[f.random.IntN(len(list))])
		}
	}
	for range 1 + f.random.IntN(3) {
		step := f.m.step(f.m.settled[f.random.IntN(len(f.m.settled))])
		switch before := slices.Concat(f.erased, out); {
		case len(before) > 0 && f.random.IntN(2) == 0:
			add(f.m.neighbours(before[f.random.IntN(len(before))]))
		case f.random.IntN(3) == 0:
			add(servicetest.LabelledIllicit(f.m.stream, step.Timestep))
		default:
			var all []lethe.TransactionID
			for _, tx := range step.Transactions {
				all = append(all, tx.ID)
			}
			add(all)
		}
	}
	if len(out) == 0 {
		return f.choose()
	}
	return out
}

// forget has transactions erased and compares everything with the mirror.
func (f *forgetting) forget(scope lethe.Scope, ids ...lethe.TransactionID) {
	f.T.Helper()
	f.number++
	id := fmt.Sprintf("forget-%d", f.number)
	models, slicesBefore := artefacts(f.running, bus.Models), artefacts(f.running, bus.Slices)
	predictions := finalPredictions(f.running)
	from := f.m.forget(scope, ids...)
	f.T.Logf("%s: %d records at scope %s, shards from timesteps %v", id, len(ids), scope, from)
	require.Equal(f.T, deletions.Verified, f.Erase(id, scope, ids...))
	f.erased = append(f.erased, ids...)

	want := f.m.build()
	requireEqual(f.running, want)
	after := artefacts(f.running, bus.Models)
	reached := f.m.learners(from)
	for key, data := range models {
		first, touched := reached[key.Shard]
		if !touched || key.Timestep < first {
			require.Equal(f.T, data, after[key], "shard %d timestep %d was not affected", key.Shard, key.Timestep)
			require.Equal(f.T, slicesBefore[key], want.slices[key])
		} else {
			require.NotEqual(f.T, data, after[key], "shard %d timestep %d was affected", key.Shard, key.Timestep)
		}
	}
	for _, id := range ids {
		delete(predictions, string(id))
		require.Zero(f.T, countNaming(f.running, bus.Predictions, string(id)), "a prediction or its tombstone is left")
	}
	require.Equal(f.T, predictions, finalPredictions(f.running), "a prediction of another transaction has changed")
	f.receipt(id, from)
	f.digests(id, slicesBefore, want.slices)
}
