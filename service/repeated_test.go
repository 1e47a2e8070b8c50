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
)

// A request that comes twice, too late or under an id that is taken changes
// nothing, and leaves no id of an erased transaction anywhere.
func TestRepeatedAndConflictingRequests(t *testing.T) {
	t.Parallel()
	stream := smallStream(t, 3, 60, 11)
	c := smallConfig(t, t.TempDir())
	s := start(t, c)
	s.replay(stream)
	ids := labelledIllicit(stream, 2)
	first, second, third := ids[0], ids[1], ids[2]
	forms := slices.Concat(formsOf(t, c, stream, first), formsOf(t, c, stream, second))
	receipt := func(id string) string {
		data, err := os.ReadFile(filepath.Join(service.ReceiptsDir(c.DataDir), id+".json"))
		require.NoError(t, err)
		return string(data)
	}

	// In one batch: a request, itself again, another under its id, and one of
	// another id for the same transaction.
	s.ask(request(t, "one", first), request(t, "one", first), request(t, "one", third), request(t, "other", first))
	// The one that is rejected may be published first.
	require.Eventually(t, func() bool { return s.outcome("one") == deletions.Verified }, waitFor, tick)
	require.Equal(t, deletions.Verified, s.outcome("other"))
	require.Equal(t, []deletions.Outcome{deletions.OutcomeErased}, s.outcomes("one"))
	require.Equal(t, []deletions.Outcome{deletions.OutcomeAlreadyErased}, s.outcomes("other"))
	s.await(func(st *service.Status) bool { return st.LagRecords == 0 && st.Erasures[deletions.Verified] == 2 })
	require.Empty(t, s.deadLetters())
	require.Equal(t, 1, s.conflicts())
	require.Equal(t, deletions.Verified, s.erase("two", lethe.ScopeStubs, second))

	m := newMirror(t, c, stream)
	m.settle(1, 2, 3)
	m.forget(lethe.ScopeStubs, first, second)
	f := &forgetting{running: s, m: m}
	f.equal(m.build())
	one, before := receipt("one"), s.quiet()
	models := s.artefacts(bus.Models)

	// The same again when it is long done, and others under its id.
	s.ask(request(t, "one", first))
	s.ask(request(t, "one", first, third))
	s.ask(request(t, "two", third))
	require.Equal(t, deletions.Verified, s.erase("too-late", lethe.ScopeStubs, first))
	require.Equal(t, []deletions.Outcome{deletions.OutcomeAlreadyErased}, s.outcomes("too-late"))
	after := s.quiet()
	require.Equal(t, one, receipt("one"))
	require.Equal(t, models, s.artefacts(bus.Models))
	require.Equal(t, before.EnsembleHash, after.EnsembleHash)
	require.Equal(t, before.Erasures[deletions.Verified]+1, after.Erasures[deletions.Verified])
	require.Contains(t, s.newest(bus.Transactions), string(third), "nobody has asked for it with success")
	require.Equal(t, 3, s.conflicts())
	require.Empty(t, s.deadLetters())
	s.clean(c.DataDir, forms)
	require.Empty(t, s.newest(bus.Erasures), "a request stays that nobody needs")
	require.Equal(t, deletions.Verified, s.erase("three", lethe.ScopeStubs, third))
	s.clean(c.DataDir, formsOf(t, c, stream, third))
	s.stop()
	require.Empty(t, left(t, c.DataDir, forms))
}

// A request under way survives that another takes its place in the log: the
// process that takes over reads the ids there.
func TestARequestUnderWayKeepsItsRecord(t *testing.T) {
	t.Parallel()
	stream := smallStream(t, 3, 60, 12)
	c := smallConfig(t, t.TempDir())
	s := start(t, c)
	s.replay(stream)
	s.stop()
	ids := labelledIllicit(stream, 2)
	// Without the role that scores, a request waits to be carried out.
	alone := c
	alone.Roles = []string{configs.RoleBuild}
	s = start(t, alone)
	s.ask(request(t, "waits", ids[0]))
	s.await(func(st *service.Status) bool { return st.Erasures[deletions.Accepted] == 1 })
	s.ask(request(t, "waits", ids[1]))
	s.ask(ingest.Outgoing{Key: []byte("waits")})
	require.Eventually(t, func() bool {
		first := string(request(t, "waits", ids[0]).Value)
		return s.newest(bus.Erasures)["waits"] == first && s.naming(bus.Erasures, string(ids[1])) == 0
	}, waitFor, tick)
	s.stop()

	s = start(t, c)
	require.Equal(t, deletions.Verified, s.outcome("waits"))
	m := newMirror(t, c, stream)
	m.settle(1, 2, 3)
	m.forget(lethe.ScopeStubs, ids[0])
	f := &forgetting{running: s, m: m}
	f.equal(m.build())
	s.clean(c.DataDir, formsOf(t, c, stream, ids[0]))
}

// conflicts counts the requests that were rejected because of their request id.
func (r *running) conflicts() (n int) {
	r.t.Helper()
	all, err := requests.List(r.t.Context(), r.Client())
	require.NoError(r.t, err)
	for _, status := range all {
		if status.Failure == deletions.RejectedConflict {
			n++
		}
	}
	return n
}
