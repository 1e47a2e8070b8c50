package service_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/service"
	"lethe/service/api"
	"lethe/service/servicetest"
)

// What is planned is what the receipt says afterwards, at every scope, and asking changes
// nothing.
func TestAPlanIsWhatTheErasureDoes(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 4, 60, 9)
	c := servicetest.SmallConfig(t, t.TempDir())
	s := start(t, c)
	before := s.Replay(stream)
	for i, scope := range []lethe.Scope{lethe.ScopeStubs, lethe.ScopeShard, lethe.ScopePartition} {
		id := servicetest.LabelledIllicit(stream, lethe.Timestep(2+i%2))[i]
		asked := service.PlanRequest{Nodes: []string{string(id), string(id)}}
		all := s.Plan(asked)
		require.Equal(t, 1, all.Targets)
		require.Equal(t, 1, all.Held)
		require.Len(t, all.Scopes, 3)
		asked.Scopes = []string{string(scope)}
		plan := s.Plan(asked)
		require.Len(t, plan.Scopes, 1)
		p := plan.Scopes[0]
		status, err := s.Status(t.Context())
		require.NoError(t, err)
		require.Equal(t, before.EnsembleHash, status.EnsembleHash, "a plan changes nothing")

		name := "planned-" + string(scope)
		require.Equal(t, deletions.Verified, s.Erase(name, scope, id))
		r := servicetest.Receipt(t, c, name)
		require.Equal(t, r.Timesteps, p.Timesteps, scope)
		require.Equal(t, r.ShardsRetrained, p.Shards, scope)
		counts := []int{r.Counts.Slices, r.Counts.Stubs, r.Counts.Payments, r.Counts.Labels}
		require.Equal(t, counts, []int{p.Slices, p.Stubs, p.Payments, p.Labels}, scope)
		require.Len(t, p.Models, len(r.GroupsRefitted))
		for k, m := range p.Models {
			require.Equal(t, r.GroupsRefitted[k].Refitted, m.Refitted)
			require.Equal(t, r.GroupsRefitted[k].Groups, m.Groups)
		}
		require.Subset(t, r.MayRemain, p.MayRemain)
		require.LessOrEqual(t, p.Checkpoints, p.Everything.Checkpoints)
		require.Positive(t, p.Seconds)
		require.Positive(t, p.Processor)
		before = s.Await(func(*service.Status) bool { return true })
	}
	asked := service.PlanRequest{Nodes: []string{string(servicetest.LabelledIllicit(stream, 4)[0])}}
	running := s.Plan(asked)
	s.Stop()
	stopped, err := service.PlanStopped(t.Context(), c, asked)
	require.NoError(t, err)
	require.Len(t, stopped.Scopes, 3)
	for i, p := range stopped.Scopes {
		p.Cost, p.Everything = running.Scopes[i].Cost, running.Scopes[i].Everything // seconds were measured there
		stopped.Scopes[i] = p
		running.Scopes[i].Cheaper = p.Cheaper
		for k := range p.Models {
			require.Equal(t, running.Scopes[i].Models[k].Steps, p.Models[k].Steps)
		}
	}
	asked.Export = true
	_, err = service.PlanStopped(t.Context(), c, asked)
	require.ErrorIs(t, err, service.ErrPlan)
}

func TestOfWhatIsGoneNothingIsPlanned(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 3, 60, 9)
	s := start(t, servicetest.SmallConfig(t, t.TempDir()))
	s.Replay(stream)
	require.Equal(t, deletions.Verified, s.Erase("gone", lethe.ScopeStubs, servicetest.LabelledIllicit(stream, 2)[0]))
	illicit := string(servicetest.LabelledIllicit(stream, 2)[0])
	gone := s.Plan(service.PlanRequest{Nodes: []string{illicit}, Scopes: []string{"stubs"}})
	require.Zero(t, gone.Held)
	require.Zero(t, gone.Scopes[0].Slices)
}

// What is refused is told without an id.
func TestARefusedPlanRepeatsNoID(t *testing.T) {
	t.Parallel()
	s := start(t, servicetest.SmallConfig(t, t.TempDir()))
	const secret = "somebody"
	for _, asked := range []any{
		service.PlanRequest{},
		service.PlanRequest{Nodes: []string{secret + "\x00"}},
		service.PlanRequest{Edges: []string{secret + ">"}},
		service.PlanRequest{Features: []string{secret + ">x"}},
		service.PlanRequest{Subjects: []string{secret + "\x00"}},
		service.PlanRequest{Nodes: []string{secret}, Scopes: []string{secret}},
		map[string]any{"nodes": []string{"a"}, secret: 1},
		secret,
	} {
		status, text := s.Post(asked)
		require.Equal(t, http.StatusBadRequest, status, text)
		require.NotContains(t, text, secret)
	}
	response := s.Ask(http.MethodPost, "/api/v1/erasures/plan", "{}", "Content-Type", "text/plain")
	require.Equal(t, http.StatusUnsupportedMediaType, response.StatusCode)
}

// V28: transactions that carry other subjects too are counted for everybody, and named for people with a token.
func TestPlan_OtherSubjects_NamedForPeopleWithAToken(t *testing.T) {
	t.Parallel()
	for _, named := range []bool{false, true} {
		c := servicetest.SmallConfig(t, t.TempDir())
		token := ""
		if named {
			token = people(t, &c, "compliance")["compliance"]
		}
		s := start(t, c)
		sendTransaction(s, lethe.Transaction{
			ID: "shared", Timestep: 1, Features: []float32{1}, Subjects: []string{"customer", "another"},
		})
		s.Await(func(st *service.Status) bool { return st.Transactions == 1 })
		// Somebody else asks through a proxy.
		response := s.Ask(http.MethodPost, api.Prefix+"/erasures/plan", `{"subjects":["customer"]}`,
			"Content-Type", "application/json", "X-Forwarded-For", "192.0.2.7", "Authorization", servicetest.Bearer(token))
		require.Equal(t, http.StatusOK, response.StatusCode)
		var plan service.Plan
		require.NoError(t, json.Unmarshal([]byte(response.Text), &plan))
		require.Equal(t, 1, plan.SeveralSubjects)
		require.Equal(t, named, len(plan.Several) == 1)
		s.Stop()
	}
}
