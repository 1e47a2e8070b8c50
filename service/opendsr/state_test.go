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
		Told: make(map[string]string),
	}
	require.NoError(t, before.put("r", asked))

	after, err := readState(path)
	require.NoError(t, err)
	known, found := after.get("r")
	require.True(t, found)
	require.Equal(t, asked, known)
	known.Told[url] = statusCompleted
	require.NoError(t, after.put("r", known))
}
