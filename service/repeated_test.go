package service_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/requests"
	"lethe/service"
	"lethe/service/servicetest"
)

// A request that comes twice, too late or under an id that is taken changes
// nothing, and leaves no id of an erased transaction anywhere.
func TestRepeatedAndConflictingRequests(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 3, 60, 11)
	c := servicetest.SmallConfig(t, t.TempDir())
	s := start(t, c)
	s.Replay(stream)
	ids := servicetest.LabelledIllicit(stream, 2)
	first, second, third := ids[0], ids[1], ids[2]
	forms := slices.Concat(servicetest.FormsOf(t, c, stream, first), servicetest.FormsOf(t, c, stream, second))
	receipt := func(id string) string {
		data, err := os.ReadFile(filepath.Join(service.ReceiptsDir(c.DataDir), id+".json"))
		require.NoError(t, err)
		return string(data)
	}

	// In one batch: a request, itself again, another under its id, and one of
	// another id for the same transaction.
	submit(s, request(t, "one", first), request(t, "one", first), request(t, "one", third), request(t, "other", first))
	// The one that is rejected may be published first.
	ended := func() bool { return s.Outcome("one") == deletions.Verified }
	require.Eventually(t, ended, servicetest.WaitFor, servicetest.Tick)
	require.Equal(t, deletions.Verified, s.Outcome("other"))
	require.Equal(t, []deletions.Outcome{deletions.OutcomeErased}, outcomes(s, "one"))
	require.Equal(t, []deletions.Outcome{deletions.OutcomeAlreadyErased}, outcomes(s, "other"))
	s.Await(func(st *service.Status) bool { return st.LagRecords == 0 && st.Erasures[deletions.Verified] == 2 })
	require.Empty(t, deadLetters(s))
	require.Equal(t, 1, conflicts(s))
	require.Equal(t, deletions.Verified, s.Erase("two", lethe.ScopeStubs, second))

	m := newMirror(t, c, stream)
	m.settle(1, 2, 3)
	m.forget(lethe.ScopeStubs, first, second)
	requireEqual(s, m.build())
	one, before := receipt("one"), s.Quiet()
	models := artefacts(s, bus.Models)

	// The same again when it is long done, and others under its id.
	submit(s, request(t, "one", first))
	submit(s, request(t, "one", first, third))
	submit(s, request(t, "two", third))
	require.Equal(t, deletions.Verified, s.Erase("too-late", lethe.ScopeStubs, first))
	require.Equal(t, []deletions.Outcome{deletions.OutcomeAlreadyErased}, outcomes(s, "too-late"))
	after := s.Quiet()
	require.Equal(t, one, receipt("one"))
	require.Equal(t, models, artefacts(s, bus.Models))
	require.Equal(t, before.EnsembleHash, after.EnsembleHash)
	require.Equal(t, before.Erasures[deletions.Verified]+1, after.Erasures[deletions.Verified])
	require.Contains(t, s.Newest(bus.Transactions), string(third), "nobody has asked for it with success")
	require.Equal(t, 3, conflicts(s))
	require.Empty(t, deadLetters(s))
	requireClean(s, c.DataDir, forms)
	require.Empty(t, s.Newest(bus.Erasures), "a request stays that nobody needs")
	require.Equal(t, deletions.Verified, s.Erase("three", lethe.ScopeStubs, third))
	requireClean(s, c.DataDir, servicetest.FormsOf(t, c, stream, third))
	s.Stop()
	require.Empty(t, servicetest.Left(t, c.DataDir, forms))
}

// A request under way survives that another takes its place in the log: the
// process that takes over reads the ids there.
func TestARequestUnderWayKeepsItsRecord(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 3, 60, 12)
	c := servicetest.SmallConfig(t, t.TempDir())
	s := start(t, c)
	s.Replay(stream)
	s.Stop()
	ids := servicetest.LabelledIllicit(stream, 2)
	// Without the role that scores, a request waits to be carried out.
	alone := c
	alone.Roles = []string{configs.RoleBuild}
	s = start(t, alone)
	submit(s, request(t, "waits", ids[0]))
	s.Await(func(st *service.Status) bool { return st.Erasures[deletions.Accepted] == 1 })
	submit(s, request(t, "waits", ids[1]))
	submit(s, ingest.Outgoing{Key: []byte("waits")})
	require.Eventually(t, func() bool {
		first := string(request(t, "waits", ids[0]).Value)
		return s.Newest(bus.Erasures)["waits"] == first && countNaming(s, bus.Erasures, string(ids[1])) == 0
	}, servicetest.WaitFor, servicetest.Tick)
	s.Stop()

	s = start(t, c)
	require.Equal(t, deletions.Verified, s.Outcome("waits"))
	m := newMirror(t, c, stream)
	m.settle(1, 2, 3)
	m.forget(lethe.ScopeStubs, ids[0])
	requireEqual(s, m.build())
	requireClean(s, c.DataDir, servicetest.FormsOf(t, c, stream, ids[0]))
}

// conflicts counts the requests that were rejected because of their request id.
func conflicts(r *running) (n int) {
	r.T.Helper()
	all, err := requests.List(r.T.Context(), r.Client())
	require.NoError(r.T, err)
	for _, status := range all {
		if status.Failure == deletions.RejectedConflict {
			n++
		}
	}
	return n
}
