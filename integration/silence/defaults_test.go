package silence_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/integration/process"
	"lethe/service/waiting"
)

// TestFourStopsAreToldUnderDefaults provokes four stops at once in a deployment whose settings say nothing of
// waiting.
func TestFourStopsAreToldUnderDefaults(t *testing.T) {
	slow(t)
	t.Parallel()
	d := deploy(t, process.Build(t), t.TempDir())
	list := []stop{
		{"settle record missing in one partition", waiting.LabelsUnsettled, "partition 0 has no settle", false, halfSettled},
		refused("labels of an unknown class", "as unknown_label", unknownLabel),
		{"open transaction", waiting.OpenTransaction, "labels.v1 partition 1", false, openTransaction(labels, 1)},
		{"busy partition that falls behind", waiting.PartitionBehind, "partition 1 has not passed it", false, busyBehind},
	}
	var ends []func()
	for _, s := range list {
		ends = append(ends, s.provoke(d))
	}
	for _, s := range list {
		d.told(s)
	}
	for _, end := range slices.Backward(ends) {
		end()
	}
	for _, s := range list {
		d.over(s)
	}
	d.logsOnceAMinute()
}

// TestAStreamThatIsWellShowsNothing sends timesteps, and looks at the status all the time.
func TestAStreamThatIsWellShowsNothing(t *testing.T) {
	slow(t)
	t.Parallel()
	d := deploy(t, process.Build(t), t.TempDir(), impatient()...)
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				if status, ok := d.Status(); ok && len(status.Waiting) > 0 {
					t.Errorf("waiting for %+v", status.Waiting)
				}
			}
		}
	})
	for range 12 {
		d.whole()
	}
	require.NoError(t, d.producer.Flush(t.Context()))
	close(done)
	watching.Wait()
	require.Empty(t, d.lines("msg=\"waiting: "))
}
