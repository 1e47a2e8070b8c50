package badinput_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// A role that cannot go on ends the service, which says why in its last line. A
// service that lives on without one of its roles would look well and do
// nothing.
func (s *stage) roleFails(t *testing.T) {
	t.Helper()
	// In the way of the next receipt.
	s.write(t, "live/receipts/gdpr-20.json/file", "")
	client, err := bus.Open(bus.At(s.service.Brokers))
	require.NoError(t, err)
	request := `{"type":"erasure","request_id":"gdpr-20","nodes":["` + s.spare + `"]}`
	require.NoError(t, client.Write(t.Context(), bus.Erasures,
		[]ingest.Outgoing{{Key: []byte("gdpr-20"), Value: []byte(request)}}))
	require.Equal(t, 1, s.service.AwaitEnd())
	require.NoError(t, client.Close())
	lines := strings.Split(strings.TrimSpace(s.service.Log()), "\n")
	require.Regexp(t, `^lethe: graphs role: request gdpr-20 in state erased: receipt: .*gdpr-20`, lines[len(lines)-1])
}
