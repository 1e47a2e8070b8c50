package graphs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
)

// W124: a label that waits for its transaction names, in a header, a transaction that is erased meanwhile. Stores keep
// no headers: with them the erasure found the name in the store at each attempt, and a standby kept it after the end,
// as only leaders know by which names records are stripped.
func TestAnErasureDoesNotFindHeadersOfWaitingRecords(t *testing.T) {
	d := deploy(t)
	r, _ := d.run(t.TempDir())
	d.fill(1)
	d.settle(1)
	d.until(r, "settled", func(s *role.Status) bool { return s.Count(lethe.Settled) == 1 })
	gone := transactionID(1, 0)
	key, value, err := ingest.EncodeLabel(lethe.LabelRecord{ID: "unknown", Timestep: 3, Label: lethe.Licit})
	require.NoError(t, err)
	header := ingest.Header{Key: "refers-to", Value: []byte(gone)}
	d.send(bus.Labels, ingest.Outgoing{Key: key, Value: value, Headers: []ingest.Header{header}})
	d.fill(2)
	d.until(r, "two", twoSteps)
	d.submit(gone)
	d.until(r, "accepted", inState(deletions.Accepted))
	d.answerAll(r)
}
