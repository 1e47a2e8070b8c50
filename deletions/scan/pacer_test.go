package scan_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/deletions/scan"
)

// pacer is one that wakes up late.
func pacer(share float64, late time.Duration) *scan.Pacer {
	return scan.NewPacer(share, time.Now, func(_ context.Context, d time.Duration) error {
		time.Sleep(d + late)
		return nil
	})
}

// Searches that want all of a processor get the share, however many they are.
func TestSearchesTakeTheirShareTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pacer(.25, 0)
		began := time.Now()
		var all sync.WaitGroup
		const searches, pieces, piece = 3, 40, 2 * time.Millisecond
		for range searches {
			all.Go(func() {
				turn := p.Begin()
				defer turn.End()
				for range pieces {
					time.Sleep(piece) // work
					if err := turn.Rest(context.Background()); err != nil {
						panic(err)
					}
				}
			})
		}
		all.Wait()
		worked := searches * pieces * piece
		require.InDelta(t, .25, worked.Seconds()/time.Since(began).Seconds(), .03)
	})
}

func TestWithoutAPacerNothingWaits(t *testing.T) {
	var p *scan.Pacer
	turn := p.Begin()
	require.NoError(t, turn.Rest(t.Context()))
	turn.End()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, turn.Rest(ended), context.Canceled)
}

// Whoever sleeps too long works the share all the same, and never more of it than before.
func TestRestsThatTakeTooLongAreMadeUpFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const late = time.Millisecond
		p := pacer(.5, late)
		began := time.Now()
		turn := p.Begin()
		const pieces, piece = 100, 5 * time.Millisecond
		for range pieces {
			time.Sleep(piece) // work
			require.NoError(t, turn.Rest(t.Context()))
		}
		turn.End()
		share := (pieces * piece).Seconds() / time.Since(began).Seconds()
		require.InDelta(t, .5, share, .005)
		require.LessOrEqual(t, share, .5)
	})
}

// A search that waited, as one for a broker that hung, was not at work: it does not rest three times as long as it
// waited, and others work meanwhile.
func TestWhoeverWaitedOwesNoRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pacer(.25, 0)
		began := time.Now()
		waits := p.Begin()
		waits.Yield()
		others := p.Begin()
		time.Sleep(5 * time.Millisecond) // work
		require.NoError(t, others.Rest(t.Context()))
		others.End()
		require.Equal(t, 20*time.Millisecond, time.Since(began))

		time.Sleep(2 * time.Minute) // a broker hangs
		waits.Resume()
		waited := time.Now()
		require.NoError(t, waits.Rest(t.Context()))
		waits.End()
		require.Less(t, time.Since(waited), time.Second)
	})
}
