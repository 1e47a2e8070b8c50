package view

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/internal/precedence"
)

// Whoever makes the predictions of a graph begins while the graph is taken already: taking it gives way then.
func TestTakingAGraphGivesWayToWhatBeginsLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rule precedence.Rule
		g := graphs{&state{secret: lethe.Secret{4}, hidden: &hidden{}}, rule.Give}
		s := &lethe.Snapshot{Timestep: 1}
		for i := range 5000 {
			s.Nodes = append(s.Nodes, lethe.SnapshotNode{ID: lethe.TransactionID(fmt.Sprint("t", i))})
		}
		end, taken := rule.Begin(), make(chan map[name]node)
		go func() { taken <- g.nodesOf(t.Context(), s, nil) }()
		synctest.Wait()
		select {
		case <-taken:
			require.Fail(t, "it did not wait")
		default:
		}
		end()
		nodes := <-taken
		require.Len(t, nodes, len(s.Nodes))
		for _, n := range s.Nodes {
			require.Equal(t, n.ID, nodes[nameOf(g.secret, g.secret.Suppression(n.ID))].id)
		}
	})
}
