package service_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/audit"
	"lethe/service"
	"lethe/service/servicetest"
)

// Components are changed between two starts, there and back. Models of those that stay are not published again, and the
// number of a meta-model becomes that of another model.
func TestAfterAChangeOfComponents_AnEnsembleIsServed(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallDefault(t, t.TempDir())
	var first string
	for i, components := range []string{
		"trees:2 logistic:2", "trees:2", "trees:2 logistic:2", "trees:2 logistic:2 logistic:4", "logistic:2",
		"trees:4 logistic:1", "trees:2 logistic:2",
	} {
		c.Trainer.Components = strings.Fields(components)
		r := start(t, c)
		if i == 0 {
			r.Replay(servicetest.SmallStream(t, 3, 40, 5))
		}
		served := func(st *service.Status) bool { return st.TrainedThrough == 3 && st.LagRecords == 0 }
		ensemble := r.Await(served).EnsembleHash
		if i == 0 {
			first = ensemble
		}
		require.Equal(t, components == "trees:2 logistic:2", ensemble == first, components)
		r.Stop()
		servicetest.Audited(t, audit.Options{Config: c, Fresh: true})
	}
}

// lethe verify with another configuration refuses the folder, and leaves it as it is.
func TestVerifyWithOtherComponents_ChangesNothing(t *testing.T) {
	c := servicetest.SmallDefault(t, t.TempDir())
	c.Trainer.Components = strings.Fields("trees:2 logistic:2")
	r := start(t, c)
	r.Replay(servicetest.SmallStream(t, 3, 40, 5))
	served := func(st *service.Status) bool { return st.TrainedThrough == 3 && st.LagRecords == 0 }
	first := r.Await(served).EnsembleHash
	r.Stop()
	other := c
	other.Trainer.Components = strings.Fields("trees:2")
	_, err := audit.Check(t.Context(), audit.Options{Config: other})
	require.ErrorContains(t, err, "other trainer.components")
	servicetest.Audited(t, audit.Options{Config: c})
	r = start(t, c)
	require.Equal(t, first, r.Await(served).EnsembleHash)
}

// With a label lag, score holds models that are not served yet. Components are changed between two starts, and back.
func TestComponentsChangedThereAndBack_WithModelsThatWait(t *testing.T) {
	c := servicetest.SmallDefault(t, t.TempDir())
	c.Scoring.LabelLagTimesteps = 1
	c.Trainer.Components = strings.Fields("trees:2 logistic:2")
	r := start(t, c)
	_, err := service.Replay(t.Context(), r.Client(), servicetest.SmallStream(t, 3, 40, 5), service.ReplayOptions{})
	require.NoError(t, err)
	served := func(st *service.Status) bool {
		return st.TrainedThrough == 2 && st.LagRecords == 0 && st.Timesteps.Settled == 3
	}
	first := r.Await(served).EnsembleHash
	r.Quiet()
	r.Stop()
	for _, components := range []string{"trees:2", "trees:2 logistic:2"} {
		c.Trainer.Components = strings.Fields(components)
		r = start(t, c)
		now := r.Await(served).EnsembleHash
		r.Quiet()
		r.Stop()
		require.Equal(t, components == "trees:2 logistic:2", now == first)
	}
}
