package sleep_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/internal/sleep"
)

func TestSleepEndsWithTheTimeOrTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		require.NoError(t, sleep.For(t.Context(), time.Minute))
		require.Equal(t, time.Minute, time.Since(started))

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, sleep.For(ctx, time.Hour), context.DeadlineExceeded)
		require.Equal(t, time.Minute+time.Second, time.Since(started))
	})
}
