package api_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest/bus"
	"lethe/service/api"
)

func status(t *testing.T, id string) []byte {
	entry, err := deletions.NewEntry(secret, lethe.ErasureRequest{RequestID: id, Targets: lethe.Transactions("somebody")},
		time.Unix(5, 0))
	require.NoError(t, err)
	said := entry.Status()
	value, err := said.Encode()
	require.NoError(t, err)
	return value
}

func TestErasuresAreListed(t *testing.T) {
	s := newSite(t)
	for _, id := range []string{"r-1", "r-2", "r-3"} {
		s.write(bus.ErasureStatus, id, status(t, id))
	}
	var page api.StatusPage
	s.get("/erasures?limit=2", &page)
	require.Len(t, page.Items, 2)
	s.get("/erasures?limit=2&cursor="+*page.NextCursor, &page)
	require.Equal(t, "r-3", page.Items[0].RequestID)
	require.Nil(t, page.NextCursor)
	var one deletions.Status
	s.get("/erasures/r-2", &one)
	require.Equal(t, deletions.Received, one.State)
}
