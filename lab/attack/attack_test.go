package attack

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
	"lethe/dataset"
	"lethe/partition"
	"lethe/trainer/kernels"
)

// smallStream has many labels, for targets are labelled.
func smallStream(t testing.TB, steps int) *dataset.Stream {
	t.Helper()
	options := dataset.GenerateDefaults()
	options.Steps, options.NodesPerStep, options.Features, options.Seed = steps, 120, 12, 1
	options.IllicitFraction, options.LicitFraction = .15, .4
	s, err := dataset.Generate(options)
	require.NoError(t, err)
	return s
}

// smallConfig trains in a moment.
func smallConfig(t testing.TB) configs.Config {
	t.Helper()
	c := configs.PerShard()
	c.DataDir = t.TempDir()
	c.HTTP.Address = "127.0.0.1:0"
	c.Embedded.Port = 0
	c.Embedded.CleanInterval = 100_000_000
	c.Kafka.Partitions = 2
	c.Partition.Shards = 4
	c.Trainer.Hidden = 8
	return c
}

func TestScenariosAreDisjointAndBalanced(t *testing.T) {
	deployed, shadow := halves(smallStream(t, 6))
	require.Len(t, deployed.Steps, 3)
	require.Len(t, shadow.Steps, 3)
	sc := newScenario(deployed, 30, 4, lethe.NewDraw(1, "targets"))
	other := newScenario(shadow, 30, 4, lethe.NewDraw(1, "targets"))
	for id := range sc.gone {
		require.NotContains(t, other.gone, id)
	}
	require.Len(t, sc.targets, 60)
	require.Len(t, sc.outside, 30)
	require.Len(t, slices.Concat(sc.members...), 30)
	byClass := make(map[bool]map[lethe.Label]int)
	for _, member := range []bool{false, true} {
		byClass[member] = make(map[lethe.Label]int)
	}
	byRequest := make(map[int]int)
	for _, target := range sc.targets {
		byClass[target.member][target.label]++
		byRequest[target.request]++
		require.Equal(t, target.member, slices.Contains(sc.members[target.request], target.id))
	}
	for label, n := range byClass[true] {
		require.InDelta(t, n, byClass[false][label], 1, label.String())
	}
	require.Len(t, byRequest, 4)

	sent := without(sc.stream, sc.outside)
	for _, step := range sent.Steps {
		for _, tx := range step.Transactions {
			require.False(t, sc.outside[tx.ID])
		}
		for _, p := range step.Payments {
			require.False(t, sc.outside[p.Source] || sc.outside[p.Target])
		}
		for _, l := range step.Labels {
			require.False(t, sc.outside[l.ID])
		}
	}
}

func TestMislabelledTurnsTheTargetsRoundAndNoOther(t *testing.T) {
	sc := newScenario(smallStream(t, 2), 20, 1, lethe.NewDraw(1, "targets"))
	wrong := sc.mislabelled()
	for i := range sc.targets {
		require.NotEqual(t, sc.targets[i].label, wrong.targets[i].label)
	}
	for s, step := range sc.stream.Steps {
		for i, l := range step.Labels {
			require.Equal(t, sc.gone[l.ID], l.Label != wrong.stream.Steps[s].Labels[i].Label)
		}
	}
}

func TestPairsAreFormerNeighboursAndOthers(t *testing.T) {
	sc := newScenario(smallStream(t, 4), 40, 1, lethe.NewDraw(1, "targets"))
	near := make(map[lethe.TransactionID][]lethe.TransactionID)
	for i := range sc.stream.Steps {
		found, _ := sc.neighbourhoods(&sc.stream.Steps[i])
		maps.Copy(near, found)
	}
	for _, members := range []bool{true, false} {
		pairs := sc.pairsOf(members, 1)
		edges := 0
		for _, p := range pairs {
			require.False(t, sc.gone[p.other], "the second end is left")
			require.Equal(t, members, sc.targets[p.cluster].member)
			require.Equal(t, p.edge, slices.Contains(near[p.target], p.other))
			if p.edge {
				edges++
			}
		}
		require.Greater(t, edges, 20)
		require.InDelta(t, edges, len(pairs)-edges, 3)
		require.Equal(t, pairs, sc.pairsOf(members, 1))
	}
}

// simulated is a view without models: members are answered as given, outsiders
// with what is drawn.
func simulated(sc *scenario, draw *lethe.Draw, versions int, member func(tg target, version int) float64) *view {
	var all []answers
	for v := range versions {
		a := make(answers)
		for _, tg := range sc.targets {
			p := .3 + .4*draw.Float64()
			if tg.member {
				p = member(tg, v)
			}
			a[tg.id] = answer{served: p}
		}
		all = append(all, a)
	}
	return newView(sc, all)
}

func TestAPlantedLeakIsFoundAndNoLeakIsNot(t *testing.T) {
	sc := newScenario(smallStream(t, 6), 60, 2, lethe.NewDraw(1, "targets"))
	all, err := learners(3, kernels.Default())
	require.NoError(t, err)
	for _, leak := range []bool{false, true} {
		make := func(seed uint64) *view {
			draw := lethe.NewDraw(seed, "test/posteriors")
			return simulated(sc, draw, 3, func(tg target, version int) float64 {
				knows := version <= tg.request || leak && version == 2
				switch {
				case !knows:
					return .3 + .4*draw.Float64()
				case tg.label == lethe.Illicit:
					return .6 + .3*draw.Float64()
				default:
					return .1 + .3*draw.Float64()
				}
			})
		}
		shadow, victim := make(1), make(2)
		for _, a := range membershipAttacks(all) {
			_, m, err := a.measure(shadow, victim)
			require.NoError(t, err)
			interval := m.estimate.Interval(.99)
			switch {
			case a.adversary == BothVersions && !leak:
				require.Greater(t, m.estimate.AUC, .6, a.name)
			case a.adversary == UnlearnedModel && leak:
				require.Greater(t, interval.Low, .5, a.name)
			case a.adversary == UnlearnedModel:
				require.True(t, interval.Contains(.5), "%s: %v", a.name, interval)
			}
		}
	}
}

func TestDegradationByHand(t *testing.T) {
	// A member seen better by 0.2, one worse by 0.1, an outsider better by 0.3.
	count, rate := degradation([]bool{true, true, false}, []float64{.7, .4, .2}, []float64{.5, .5, .5})
	require.InDelta(t, 2./3, count, 1e-12)
	require.InDelta(t, .4/3, rate, 1e-12)
}

func TestResidueIsLeftAtScopeShardOnly(t *testing.T) {
	// Few, so that slices are left that hold none of them: only those keep stubs.
	sc := newScenario(smallStream(t, 4), 4, 1, lethe.NewDraw(1, "targets"))
	c := smallConfig(t)
	c.Partition.Method, c.Partition.Refine = partition.MethodRandom, false // most edges are cut
	before, err := newReplica(t.Context(), c, lethe.Secret{}, without(sc.stream, sc.outside))
	require.NoError(t, err)
	area := func(r *replica) Measured {
		samples, err := residue(sc, lethe.Secret{}, slices.Concat(r.slices...))
		require.NoError(t, err)
		m, err := measure(unzip(samples))
		require.NoError(t, err)
		return m
	}
	require.Equal(t, 1., area(before).estimate.AUC, "an erasure that does nothing")
	stubs, err := before.erase(t.Context(), lethe.ScopeStubs, sc.members[0])
	require.NoError(t, err)
	require.Equal(t, .5, area(stubs).estimate.AUC)
	require.Zero(t, area(stubs).estimate.StandardError)
	shard, err := before.erase(t.Context(), lethe.ScopeShard, sc.members[0])
	require.NoError(t, err)
	require.Greater(t, area(shard).estimate.Interval(.95).Low, .5)
	require.Positive(t, area(shard).CertainShare)
}

func TestOptionsReportEverythingThatIsWrong(t *testing.T) {
	o := Defaults(smallStream(t, 6), smallConfig(t))
	o.Targets, o.Requests, o.Scopes = 5, 9, []lethe.Scope{"galaxy"}
	o.Config.Kafka.Brokers = []string{"a:9092"}
	err := o.Validate()
	for _, part := range []string{"targets is 5, want 20 to",
		`scopes is "galaxy", want one of stubs, shard, partition`,
		"kafka.brokers is [a:9092], want none"} {
		require.ErrorContains(t, err, part)
	}
	require.NotContains(t, err.Error(), "requests", "its bound would be of wrong targets")
	o.Targets, o.Requests = 20, 21
	require.ErrorContains(t, o.Validate(), "requests is 21, want 1 to 20")
	few := smallStream(t, 4)
	for i := range few.Steps {
		few.Steps[i].Labels = few.Steps[i].Labels[:10]
	}
	require.ErrorContains(t, Defaults(smallStream(t, 6), configs.Default()).Validate(), "trainer.model is \"stack\"")
	require.EqualError(t, Defaults(few, smallConfig(t)).Validate(),
		"number of labels in every second timestep is 20, want at least 80: take more timesteps or other data")
	few.Steps = few.Steps[:3]
	require.EqualError(t, Defaults(few, smallConfig(t)).Validate(), "number of timesteps is 3, want at least 4")
}
