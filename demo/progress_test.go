package demo

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/dataset"
	"lethe/service"
)

// All timesteps are settled long before all models have learnt from them: the demo said "49 of 49 timesteps trained on"
// for most of its time.
func TestStreamed_ModelsBehind_CountsWhatAllHaveLearnt(t *testing.T) {
	steps := make([]dataset.Step, 49)
	for i := range steps {
		steps[i].Timestep = lethe.Timestep(i + 1)
	}
	for _, c := range []struct {
		settled int
		through lethe.Timestep
		done    int
		text    string
	}{
		{0, lethe.NoTimestep, 0, "stream: 0 of 49 timesteps learnt by all models, 9 predictions; timestep 1 waits for its " +
			"records and labels"},
		{49, 12, 12, "stream: 12 of 49 timesteps learnt by all models, 9 predictions; timestep 13 waits for its models"},
		{12, 12, 12, "stream: 12 of 49 timesteps learnt by all models, 9 predictions; timestep 13 waits for its " +
			"records and labels"},
		{49, 49, 49, "stream: 49 of 49 timesteps learnt by all models, 9 predictions"},
	} {
		now := &service.Status{Predictions: 9, TrainedThrough: c.through}
		now.Timesteps.Settled = c.settled
		done, text := streamed(now, steps)
		require.Equal(t, c.done, done)
		require.Equal(t, c.text, text)
	}
}

// What stands still is not said to be over in no time.
func TestPace_StandsStill_IsNotOver(t *testing.T) {
	begun, p := time.Unix(0, 0), &pace{}
	for done := range 11 {
		p.left(done, 20, begun.Add(time.Duration(done)*time.Second))
	}
	left, known := p.left(10, 20, begun.Add(10*time.Second))
	require.True(t, known)
	require.InDelta(t, 10, left.Seconds(), 1)
	left, _ = p.left(10, 20, begun.Add(40*time.Second))
	require.InDelta(t, 40, left.Seconds(), 1)
}

// Where each timestep takes a second more than the one before, what is left is told within a quarter of it, once half
// is done, and within half of it before.
func TestPace_CostsGrow_TellsWhatIsLeft(t *testing.T) {
	now, p := time.Unix(0, 0), &pace{}
	_, known := p.left(0, 40, now)
	require.False(t, known)
	for done := 1; done <= 40; done++ {
		now = now.Add(time.Duration(done) * time.Second)
		left, known := p.left(done, 40, now)
		require.True(t, known)
		truth := time.Duration(40*41/2-done*(done+1)/2) * time.Second
		switch {
		case done >= 20:
			require.InDelta(t, truth.Seconds(), left.Seconds(), truth.Seconds()/4, "after %d", done)
		case done >= 10:
			require.InDelta(t, truth.Seconds(), left.Seconds(), truth.Seconds()/2, "after %d", done)
		}
	}
	require.Equal(t, "; about 10 s left", (&pace{reached: []mark{{0, now}, {10, now.Add(10 * time.Second)}}}).
		text(10, 20, now.Add(10*time.Second)))
	require.Empty(t, p.text(40, 40, now))
}
