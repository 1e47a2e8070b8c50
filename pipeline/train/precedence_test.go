package train

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/internal/precedence"
	"lethe/metrics/events"
	"lethe/pipeline/role/roletest"
	"lethe/scoring/ensemble"
	"lethe/trainer"
)

// A model is not begun while predictions are made in the same process, also one that is fitted in one go.
func TestTrainingGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rule precedence.Rule
		topics, h := topics(), &heard{}
		o := optionsFor(t.TempDir(), topics)
		logistic, err := ensemble.ParseComponent("logistic:3", o.Layout.Shards, trainer.Defaults())
		require.NoError(t, err)
		o.Layout.Components = []ensemble.Component{logistic}
		o.First, o.Listener = &rule, events.Tee(h.listener())
		r, err := New(o)
		require.NoError(t, err)
		session, err := roletest.Begin(t.Context(), r)
		require.NoError(t, err)
		for shard := range lethe.ShardID(3) {
			publish(t, topics, planOf(shard, 2).messages(1)...)
		}
		end, polled := rule.Begin(), make(chan error, 1)
		go func() {
			more, err := true, error(nil)
			for more && err == nil {
				more, err = session.Poll(t.Context())
			}
			polled <- err
		}()
		synctest.Wait()
		require.Empty(t, h.trained)
		end()
		require.NoError(t, <-polled)
		require.NotEmpty(t, h.trained)
		require.NoError(t, session.Close())
		require.NoError(t, r.Close())
	})
}

// A network that is being trained stops between two steps.
func TestTrainingGivesWayBetweenSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rule precedence.Rule
		o := optionsFor(t.TempDir(), topics())
		o.First = &rule
		l, err := newLogic(o)
		require.NoError(t, err)
		end, trained := rule.Begin(), make(chan error, 1)
		go func() {
			_, err := l.runner.Column(0).Advance(t.Context(), nil, []*lethe.Slice{sliceOf(0, 1, lethe.NoTimestep, 0)})
			trained <- err
		}()
		synctest.Wait()
		select {
		case err := <-trained:
			require.Fail(t, "it was not waited for", "error: %v", err)
		default:
		}
		end()
		require.NoError(t, <-trained)
	})
}
