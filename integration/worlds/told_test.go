package worlds

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/snapshot"
)

// told is a world that is told, not drawn.
type told struct {
	*testing.T
	world
}

// tell begins a world of so many timesteps.
func tell(t *testing.T, last lethe.Timestep) told {
	w := told{t, world{last: last, config: snapshot.Defaults()}}
	w.config.RewriteAtOnce, w.config.FeatureCount, w.config.ReopenWindow = 1, features, time.Second
	return w
}

func (w *told) sends(key, value []byte, err error) func(names ...lethe.TransactionID) *event {
	require.NoError(w, err)
	return func(names ...lethe.TransactionID) *event {
		w.events = append(w.events, event{
			topic: bus.Transactions, record: ingest.Outgoing{Key: key, Value: value}, names: names,
		})
		return &w.events[len(w.events)-1]
	}
}

// asks lets the roles take what was sent, and requests an erasure.
func (w *told) asks(scope lethe.Scope, target lethe.TransactionID) {
	w.events[len(w.events)-1].polls = patience / 10
	w.events = append(w.events, event{polls: patience / 10, request: &lethe.ErasureRequest{
		RequestID: fmt.Sprintf("request-%d", len(w.events)), Scope: scope, Targets: lethe.Transactions(target),
	}})
}

// TestScopePartitionTakesAwayStubsOfOthers: at scope shard the slice of a neighbour keeps a
// stub of what was erased. Asked for once more at scope partition the stub goes, be it that
// everybody else is dealt to the shard where he is already, which one of the two targets
// comes to.
func TestScopePartitionTakesAwayStubsOfOthers(t *testing.T) {
	pair := []lethe.TransactionID{lethe.TransactionID(prefixOf(1) + "0"), lethe.TransactionID(prefixOf(1) + "1")}
	for _, target := range pair {
		w := tell(t, 1)
		for i, id := range pair {
			tx := lethe.Transaction{ID: id, Timestep: 1, Features: []float32{float32(i), 2, 3}}
			w.sends(ingest.EncodeTransaction(tx))(id).row = tx.Features
		}
		p := lethe.Payment{Source: pair[0], Target: pair[1], Timestep: 1}
		w.sends(ingest.EncodePayment(p))(pair...).pays = true
		w.ends(1)
		w.asks(lethe.ScopeShard, target)
		w.asks(lethe.ScopePartition, target)

		var states [2]*state
		for i, one := range []world{w.world, w.without(w.targets())} {
			d, err := newDeployment(t).play(t.Context(), one)
			require.NoError(t, err)
			states[i], err = d.read(t.Context())
			require.NoError(t, err)
			require.NoError(t, d.stop())
		}
		require.Empty(t, compare(t.Context(), w.world, states[0], states[1]))
	}
}
