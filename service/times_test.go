package service_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/deletions"
	"lethe/ingest"
)

// A time that no document can hold, in a request or a hold, ends nothing: not the process, nor
// its next start.
func TestTimesThatNoDocumentHoldsEndNothing(t *testing.T) {
	t.Parallel()
	c := smallConfig(t, t.TempDir())
	r := start(t, c)
	stream := smallStream(t, 2, 40, 3)
	r.replay(stream)
	node := labelledIllicit(stream, 1)[0]
	const behind, before = "9999-12-31T23:59:59-10:00", "0000-01-01T00:00:00+10:00"
	hold := func(name, until string) ingest.Outgoing {
		return ingest.Outgoing{Key: ingest.HoldKey(name), Value: []byte(`{"type":"hold","hold_id":"` + name +
			`","nodes":["another"],"reason":"case 7","until":"` + until + `"}`)}
	}
	r.ask(
		ingest.Outgoing{Key: []byte("far"), Value: []byte(
			`{"type":"erasure","request_id":"far","nodes":["another"],"deadline":"` + behind + `"}`)},
		hold("behind", behind), hold("before", before), request(t, "gdpr-1", node),
	)
	require.Equal(t, deletions.Verified, r.outcome("gdpr-1"))
	require.Len(t, r.deadLetters(), 3)
	r.stop()

	r = start(t, c)
	require.Equal(t, deletions.Verified, r.erase("gdpr-2", "", labelledIllicit(stream, 2)[0]))
}
