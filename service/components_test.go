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
