package view_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// A graph is taken once the predictions that are made in the same process are out.
func TestGraphsGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		end, taken := r.first.Begin(), make(chan struct{})
		go func() {
			defer close(taken)
			r.graph(1, 1, nil, "a", "b")
		}()
		synctest.Wait()
		select {
		case <-taken:
			require.Fail(t, "it was taken at once")
		default:
		}
		end()
		<-taken
		r.stop()
	})
}
