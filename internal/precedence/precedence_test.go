package precedence_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"lethe/internal/precedence"
)

// Whoever gives way goes on once all of what goes first has ended.
func TestGivesWayUntilAllHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rule precedence.Rule
		require.False(t, rule.Give(t.Context()), "nothing is under way")
		endOne, endOther := rule.Begin(), rule.Begin()
		var went atomic.Int64
		for range 2 {
			go func() {
				if rule.Give(t.Context()) {
					went.Add(1)
				}
			}()
		}
		synctest.Wait()
		endOne()
		synctest.Wait()
		require.Zero(t, went.Load())
		endOther()
		synctest.Wait()
		require.EqualValues(t, 2, went.Load())
	})
}

// Whoever waits goes on at the end of what it waits for, though more begins right then.
func TestNobodyWaitsForWhatBeginsLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rule precedence.Rule
		end := rule.Begin()
		went := false
		go func() { rule.Give(t.Context()); went = true }()
		synctest.Wait()
		end()
		defer rule.Begin()()
		synctest.Wait()
		require.True(t, went)
	})
}

func TestTheContextEndsTheWait(t *testing.T) {
	var rule precedence.Rule
	defer rule.Begin()()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.True(t, rule.Give(ctx))
}

func TestWithoutARuleNothingGoesFirst(t *testing.T) {
	var none *precedence.Rule
	none.Begin()()
	none.Give(t.Context())
}
