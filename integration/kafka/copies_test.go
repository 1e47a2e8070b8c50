package kafka_test

import (
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/deletions"
	"lethe/ingest/bus"
	"lethe/integration/process"
	"lethe/service"
)

// Each broker cleans its own copy of a log. One of three hangs while a record is erased, so that its disk has the
// record still when the two others have cleaned theirs: nothing is verified until it goes on and has cleaned its copy.
// Then none of the three has the record, and the receipt says that all were searched.
func TestACopyOfThreeIsWaitedFor(t *testing.T) {
	three := newCluster(t)
	l := newLab(t)
	erased, _ := l.subjects(t)
	forms := l.forms(t, erased)
	d := l.outside(t)
	dir := filepath.Join(t.TempDir(), "data")
	s := d.process(dir, process.FreePorts(t), "")
	d.replayParts(1, 3)
	s.Await("three timesteps", l.learnt(3))

	const hung = 3
	goOn := three.stall(hung)
	erasure := d.erase("copies", string(erased))
	s.Await("what the role rewrites", func(status service.Status) bool { return status.Erasures[deletions.Erased] == 1 })
	s.AwaitPage("/readyz", "of broker "+strconv.Itoa(hung))
	require.NotEmpty(t, search(t, forms, d.logsIn(three.logs(hung))...))
	status, ok := s.Status()
	require.True(t, ok)
	require.Zero(t, status.Erasures[deletions.Verified])

	goOn()
	verified(t, erasure, s)
	var all []string
	for broker := 1; broker <= 3; broker++ {
		all = append(all, d.logsIn(three.logs(broker))...)
	}
	d.requireGone(forms, append(all, dir)...)
	for _, place := range d.receiptOf(dir, "copies").Searched {
		if place.Place == string(bus.Transactions) {
			require.Equal(t, []int32{1, 2, 3}, place.Brokers)
		}
	}
	require.Zero(t, s.Stop(), s.Log())
}
