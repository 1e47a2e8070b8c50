package forecast

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/coordinator"
	"lethe/deletions/internal/memorykv"
)

// machine carries erasures out by a clock of its own.
type machine struct {
	*testing.T
	now    time.Time
	ledger *deletions.Ledger
	draw   *lethe.Draw
	past   []deletions.Entry
	// before, perTimestep and perDealt are seconds, training is how many times as long training takes
	// as models alone do.
	before, perTimestep, perDealt, training float64
}

func newMachine(t *testing.T) *machine {
	m := &machine{
		T: t, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), draw: lethe.NewDraw(7, "machine"),
		before: 0.11, perTimestep: 0.06, perDealt: 0.1, training: 1.6,
	}
	m.ledger = deletions.NewLedger(memorykv.New(), func() time.Time { return m.now })
	return m
}

func (m *machine) rates() Rates {
	return Rates{Checkpoint: map[string]float64{"elliptic-gin": 0.004, "trees": 0.5}, Partition: 0.08}
}

// plan is what a request comes to that has so many transactions, each in another timestep.
func (m *machine) plan(transactions int) coordinator.Plan {
	plan := coordinator.Plan{Held: []bool{true}}
	for t := range 49 {
		if m.draw.IntN(49-t) >= transactions {
			continue
		}
		transactions--
		step := coordinator.StepPlan{Replaced: coordinator.Replaced{Timestep: lethe.Timestep(t + 1)}}
		step.Shards = append(step.Shards, lethe.ShardID(m.draw.IntN(4)))
		plan.Steps = append(plan.Steps, step)
	}
	return plan
}

// facts are those of a plan.
func (m *machine) facts(scope lethe.Scope, plan coordinator.Plan) Facts {
	return Facts{
		Targets: 1, Scopes: []lethe.Scope{scope}, Plans: map[lethe.Scope]coordinator.Plan{scope: plan}, Settled: settled(49),
		Past: m.past[max(0, len(m.past)-60):],
	}
}

// erase carries a request out, and returns the seconds that it took until the ensemble was swapped.
func (m *machine) erase(scope lethe.Scope, plan coordinator.Plan) float64 {
	m.Helper()
	began, id := m.now, fmt.Sprint("request-", len(m.past))
	e, err := deletions.NewEntry(lethe.Secret{1}, lethe.ErasureRequest{
		RequestID: id, Targets: lethe.Transactions("a"), Scope: scope,
	}, m.now)
	require.NoError(m, err)
	_, _, err = m.ledger.TakeAll([]deletions.Entry{e})
	require.NoError(m, err)
	perTimestep := m.perTimestep
	if scope == lethe.ScopePartition {
		perTimestep += m.perDealt
	}
	var slices []deletions.SliceRef
	for _, step := range plan.Steps {
		slices = append(slices, deletions.SliceRef{Timestep: step.Timestep, Shard: step.Shards[0]})
	}
	train, _ := newEstimator(layout(), m.rates(), 2, settled(49)).training(workOf(layout(), settled(49), slices))
	for _, stage := range []struct {
		to      deletions.State
		seconds float64
	}{
		{deletions.Accepted, 0}, {deletions.Suppressed, 0.005}, {deletions.Rewriting, m.before},
		{deletions.Retraining, 0.05 + perTimestep*float64(len(plan.Steps))}, {deletions.Swapped, 0.3 + m.training*train},
	} {
		// Between 0.8 and 1.2 times as long.
		noisy := stage.seconds * (0.8 + 0.4*m.draw.Float64())
		m.now = m.now.Add(time.Duration(noisy * float64(time.Second)))
		moved, err := m.ledger.TransitionAll([]string{id}, stage.to, func(_ int, e *deletions.Entry) {
			e.Progress.Slices, e.Progress.Timesteps = slices, nil
			for _, step := range plan.Steps {
				e.Progress.Timesteps = append(e.Progress.Timesteps, step.Timestep)
			}
		})
		require.NoError(m, err)
		e = moved[0]
	}
	m.past = append(m.past, e)
	took := m.now.Sub(began).Seconds()
	m.now = m.now.Add(time.Second)
	return took
}

func (m *machine) estimate(scope lethe.Scope, plan coordinator.Plan) float64 {
	return Of(m.facts(scope, plan), Settings{Layout: layout(), Workers: 2, Rates: m.rates()}).Scopes[0].Seconds
}

// Once a few requests were carried out, what others of any size and scope take is foreseen.
func TestRequestsOfAllSizesAreForeseen(t *testing.T) {
	m := newMachine(t)
	var ratios []float64
	for i := range 53 {
		scope, transactions := lethe.ScopeStubs, 1
		if m.draw.IntN(3) == 0 {
			scope = lethe.ScopePartition
		}
		if m.draw.IntN(2) == 0 {
			transactions = 1 + m.draw.IntN(49)
		}
		plan := m.plan(transactions)
		estimate := m.estimate(scope, plan)
		if took := m.erase(scope, plan); i >= leastObserved {
			ratios = append(ratios, estimate/took)
		}
	}
	require.InDelta(t, 1, median(ratios), 0.1)
	near := func(r float64) bool { return r <= 1.5 && r >= 1/1.5 }
	require.LessOrEqual(t, len(slices.DeleteFunc(slices.Clone(ratios), near)), 3, ratios)
}

// Single transactions tell how slow the machine is, and so what a customer will take; what was long ago
// counts no more.
func TestLargeRequestsAreForeseenFromSmallOnes(t *testing.T) {
	m := newMachine(t)
	for range 10 {
		m.erase(lethe.ScopeStubs, m.plan(1))
	}
	large := m.plan(49)
	require.InEpsilon(t, m.erase(lethe.ScopeStubs, large), newMachineLike(m).estimate(lethe.ScopeStubs, large), 0.5)
	m.perTimestep, m.training, m.before = 3*m.perTimestep, 3*m.training, 3*m.before
	for range 40 {
		m.erase(lethe.ScopeStubs, m.plan(1+m.draw.IntN(20)))
	}
	estimate := m.estimate(lethe.ScopeStubs, large)
	require.InEpsilon(t, m.erase(lethe.ScopeStubs, large), estimate, 0.3)
}

// newMachineLike has the past but the newest.
func newMachineLike(m *machine) *machine {
	other := *m
	other.past = m.past[:len(m.past)-1]
	return &other
}

func TestALineIsLearntFromWhatWorkTook(t *testing.T) {
	expected := line{1, 2}
	require.Equal(t, expected, expected.learnt([]observation{{1, 30}, {1, 30}}, 10), "too few")
	exact := expected.learnt([]observation{{0, 3}, {5, 13}, {10, 23}, {2, 7}, {8, 19}, {1, 5}, {3, 9}}, 10)
	require.InEpsilon(t, 13, exact.at(5), 0.1)
	require.InEpsilon(t, 23, exact.at(10), 0.15)
	slower := expected.learnt([]observation{{1, 9}, {1, 9}, {1, 9}}, 10)
	require.InDelta(t, 9, slower.at(1), 1e-9)
	require.InDelta(t, 63, slower.at(10), 1e-9, "three times as slow as expected")
	heldUp := expected.learnt([]observation{{1, 3}, {2, 5}, {1, 3}, {1, 90}, {3, 7}, {10, 21}}, 10)
	require.InEpsilon(t, 21, heldUp.at(10), 0.15)
	none := expected.learnt([]observation{{0, 0}, {0, 0}, {0, 0}}, 0)
	require.InDelta(t, 0.001, none.at(0), 1e-3)
	falling := expected.learnt([]observation{{1, 9}, {9, 1}, {1, 9}, {9, 1}, {1, 9}, {9, 1}}, 10)
	require.GreaterOrEqual(t, falling.perWork, 0.)
	require.GreaterOrEqual(t, falling.fixed, 0.)
	fromNothing := expected.learnt([]observation{{1, 0.01}, {9, 9}, {1, 0.01}, {9, 9}, {1, 0.01}, {9, 9}}, 10)
	require.GreaterOrEqual(t, fromNothing.fixed, 0.)
}
