package score

import (
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"lethe/internal/precedence"
	"lethe/pipeline/role/roletest"
	"lethe/trainer/kernels"
)

// watchedProducts calls look at the first product.
type watchedProducts struct {
	kernels.Products
	once *sync.Once
	look func()
}

func (w watchedProducts) MulNN(dst, a, b kernels.Matrix, s *kernels.Scratch) {
	w.once.Do(w.look)
	w.Products.MulNN(dst, a, b, s)
}

// While models are asked about a timestep that was closed, whoever gives way waits, and no longer.
func TestPredictionsOfAClosedTimestepGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rule precedence.Rule
		topics, w := topics(), newScenario(t, 2)
		o := optionsFor(topics)
		o.Dir, o.Workers, o.First = t.TempDir(), 1, &rule
		asked, went := false, make(chan struct{})
		o.Kernels.Products = watchedProducts{o.Kernels.Products, new(sync.Once), func() {
			asked = true
			go func() {
				defer close(went)
				rule.Give(t.Context())
			}()
			synctest.Wait()
			select {
			case <-went:
				require.Fail(t, "nothing goes first while a model is asked")
			default:
			}
		}}
		r, err := New(t.Context(), o)
		require.NoError(t, err)
		session, err := roletest.Begin(t.Context(), r)
		require.NoError(t, err)
		publish(t, topics, w, 1, 2)
		for more := true; more; {
			more, err = session.Poll(t.Context())
			require.NoError(t, err)
		}
		require.True(t, asked)
		<-went
		require.NoError(t, session.Close())
		require.NoError(t, r.Close())
	})
}
