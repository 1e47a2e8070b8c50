package service_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/service/servicetest"
)

// A time that no document can hold, in a request or a hold, ends nothing: not the process, nor
// its next start.
func TestTimesThatNoDocumentHoldsEndNothing(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, t.TempDir())
	r := start(t, c)
	stream := servicetest.SmallStream(t, 2, 40, 3)
	r.Replay(stream)
	node := servicetest.LabelledIllicit(stream, 1)[0]
	const behind, before = "9999-12-31T23:59:59-10:00", "0000-01-01T00:00:00+10:00"
	hold := func(name, until string) ingest.Outgoing {
		return ingest.Outgoing{Key: ingest.HoldKey(name), Value: []byte(`{"type":"hold","hold_id":"` + name +
			`","nodes":["another"],"reason":"case 7","until":"` + until + `"}`)}
	}
	submit(r,
		ingest.Outgoing{Key: []byte("far"), Value: []byte(
			`{"type":"erasure","request_id":"far","nodes":["another"],"deadline":"` + behind + `"}`)},
		hold("behind", behind), hold("before", before), request(t, "gdpr-1", node),
	)
	require.Equal(t, deletions.Verified, r.Outcome("gdpr-1"))
	require.Len(t, deadLetters(r), 3)
	r.Stop()

	r = start(t, c)
	require.Equal(t, deletions.Verified, r.Erase("gdpr-2", "", servicetest.LabelledIllicit(stream, 2)[0]))
}
