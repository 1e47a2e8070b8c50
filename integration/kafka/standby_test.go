package kafka_test

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/configs"
	"lethe/integration/process"
)

// Two processes each play graphs with erasure, and score. Those that lead are killed while the
// stream runs, later one that leads hangs in the middle of an erasure, and everything comes out as
// in one process. The erasure is verified once all have searched.
func TestStandbysTakeOver(t *testing.T) {
	l := newLab(t)
	erased, _ := l.subjects(t)
	before, after := l.reference(t, erased)
	d := l.outside(t)
	root := t.TempDir()
	start := func(role, name string) *process.Service {
		return d.process(filepath.Join(root, name), process.FreePorts(t), role)
	}
	build, score := start("build", "build"), start("score", "score")
	build.AwaitLog("graphs: this process leads")
	score.AwaitLog("score: this process leads")
	otherBuild, otherScore := start("build", "other build"), start("score", "other score")
	otherBuild.AwaitLog("graphs: another process leads")
	otherScore.AwaitLog("score: another process leads")
	train := start("train", "train")
	replay := d.slowReplay()
	otherBuild.Await("half of the stream", halfway)
	build.Kill()
	score.Kill()
	killed := time.Now()
	otherBuild.AwaitLog("graphs: this process leads")
	otherScore.AwaitLog("score: this process leads")
	t.Logf("both have taken over %.1f s after the kill", time.Since(killed).Seconds())
	replayed := replay.Wait()
	require.Zero(t, replayed.Code, replayed.Stderr)
	require.Equal(t, before.hash, otherScore.Await("the end of the stream", trained).EnsembleHash)
	equalPredictions(t, before.predictions, d.predictions())

	build, score = start("build", "build"), start("score", "score")
	for _, s := range []*process.Service{build, score} {
		s.AwaitLog("another process leads")
	}
	erasure := d.erase("standbys", string(erased))
	otherBuild.AwaitLog("erasure: graphs rewritten")
	otherBuild.Pause()
	build.AwaitLog("graphs: this process leads")
	time.Sleep(2 * time.Second)
	otherBuild.Resume()
	otherBuild.AwaitLog("graphs: another process leads")
	verified(t, erasure, build, score, otherBuild, otherScore, train)
	require.Equal(t, after.hash, otherScore.Await("a status", trained).EnsembleHash)
	equalPredictions(t, after.predictions, d.predictions())

	d.checkReceipt(filepath.Join(root, "build"), "standbys")
	searched := make(map[string][]string)
	for _, place := range d.receiptOf(filepath.Join(root, "build"), "standbys").Searched {
		if place.Instance != "" {
			searched[place.Place] = append(searched[place.Place], place.Instance)
		}
	}
	require.Equal(t, []string{instanceOf(t, root, "other build")}, searched[configs.RoleGraphs])
	both := []string{instanceOf(t, root, "score"), instanceOf(t, root, "other score")}
	require.Equal(t, slices.Sorted(slices.Values(both)), searched[configs.RoleScore])
	d.requireGone(l.forms(t, erased), root)
	for _, s := range []*process.Service{build, score, otherBuild, otherScore, train} {
		require.Zero(t, s.Stop(), s.Log())
	}
}
