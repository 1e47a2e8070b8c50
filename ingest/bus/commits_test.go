package bus

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Who wants to know whether brokers take its positions, and has none yet, is asked again soon; others when the time has
// come.
func TestWhoHasNoPositionsYetIsAskedAgainSoon(t *testing.T) {
	one := []int{0}
	for name, c := range map[string]struct {
		partitions []int
		committed  func(int64, time.Time)
		asked      int
	}{
		"wants to know": {one, func(int64, time.Time) {}, int(time.Second / commitSoon)},
		"does not":      {one, nil, 1},
		"has no part":   {nil, func(int64, time.Time) {}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				ctx, stop := context.WithTimeout(t.Context(), time.Second-time.Millisecond)
				defer stop()
				commits{
					group: GroupConfig{CommitEvery: time.Minute}, mine: Assigned{Partitions: c.partitions},
					member: Member{
						Positions: func() map[TopicPartition]int64 {
							asked++
							return nil
						},
						Committed: c.committed,
					},
				}.run(ctx)
				require.Error(t, ctx.Err(), "its end would end the generation")
				require.Equal(t, c.asked, asked)
			})
		})
	}
}
