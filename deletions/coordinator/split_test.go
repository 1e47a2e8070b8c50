package coordinator

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/pipeline/wire"
)

// Requests of which nothing is found end, though another role finds something of one that is carried out
// together with them, and does not say of which. That one is tried again until nothing is found of it.
func TestRequestsEndBesideOneOfWhichSomethingIsFound(t *testing.T) {
	t.Parallel()
	for _, bad := range []int{0, 1, 2, 4} {
		t.Run(strconv.Itoa(bad), func(t *testing.T) {
			t.Parallel()
			d := deploy(t)
			const count = 5
			target := func(i int) lethe.Target {
				return lethe.Transactions(lethe.TransactionID("transaction-" + strconv.Itoa(i)))[0]
			}
			planted := testSecret.Suppressed(target(bad))
			d.left = func(c *wire.Command) int {
				if slices.Contains(c.Suppressed, planted) {
					return 1
				}
				return 0
			}
			for i := range count {
				d.submit(lethe.ErasureRequest{
					RequestID: "r" + strconv.Itoa(i), Targets: []lethe.Target{target(i)}, Scope: lethe.ScopeStubs,
				})
			}
			require.NoError(t, d.boot())
			rounds := func(n, verified int) {
				for range n {
					if d.Counts()[deletions.Verified] == verified {
						return
					}
					require.NoError(t, d.round())
					d.now = d.now.Add(time.Minute)
				}
			}
			rounds(60, count-1)
			states := make(map[string]bool)
			list, err := deletions.NewLedger(d.kv, nil).List()
			require.NoError(t, err)
			for _, e := range list {
				states[e.RequestID] = e.State == deletions.Verified
				require.Equal(t, count, e.Batch.Size)
			}
			for i := range count {
				require.Equal(t, i != bad, states["r"+strconv.Itoa(i)], "r%d", i)
			}
			// The process ends, and another one takes over what is left.
			d.notes.read = 0
			require.NoError(t, d.boot())
			rounds(5, count)
			require.Equal(t, count-1, d.Counts()[deletions.Verified], "what is found is never called verified")
			d.left = nil
			rounds(20, count)
			require.Equal(t, count, d.Counts()[deletions.Verified])
		})
	}
}
