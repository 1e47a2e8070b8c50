package opendsr

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A process that ends before anybody was called back goes on with what it has kept: that somebody
// has heard of the request can be noted then.
func TestARequestOfWhichNobodyHasHeardIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "opendsr")
	before, err := readState(path)
	require.NoError(t, err)
	const url = "https://controller.example/callback"
	asked := kept{
		Controller: "c", Received: time.Unix(1, 0).UTC(), Expected: time.Unix(2, 0).UTC(), CallbackURLs: []string{url},
		Accepted: make(map[string]string),
	}
	require.NoError(t, before.put("r", asked))

	after, err := readState(path)
	require.NoError(t, err)
	known, found := after.get("r")
	require.True(t, found)
	require.Equal(t, asked, known)
	known.Accepted[url] = statusCompleted
	require.NoError(t, after.put("r", known))
}

// A request of another age of the world is refused, and what cannot be written down keeps no other request from it.
func TestARequestOfTheYear9999BlocksNoOther(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	s := &Service{o: Options{Domain: "dsr.example", Now: func() time.Time { return now }}}
	for submitted, ok := range map[string]bool{
		"2026-11-01T11:00:00Z": true, "2026-11-02T11:00:00Z": true, "2020-01-01T00:00:00+02:00": true,
		"9999-12-31T23:59:59Z": false, "2026-11-02T13:00:00Z": false, "0000-01-01T00:00:00+23:59": false,
	} {
		_, _, err := s.parse([]byte(`{"subject_request_id":"550e8400-e29b-41d4-a716-446655440000",` +
			`"subject_request_type":"erasure","submitted_time":"` + submitted + `",` +
			`"subject_identities":[{"identity_type":"controller_customer_id","identity_value":"c","identity_format":"raw"}]}`))
		require.Equal(t, ok, err == nil, "%s: %v", submitted, err)
	}
	requests, err := readState(filepath.Join(t.TempDir(), "opendsr"))
	require.NoError(t, err)
	require.Error(t, requests.put("late", kept{Expected: time.Date(10_000, 1, 30, 0, 0, 0, 0, time.UTC)}))
	require.NoError(t, requests.put("other", kept{Expected: now}))
	require.Equal(t, []string{"other"}, requests.ids())
}
