package metrics_test

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/metrics"
)

func TestRevisionIsTheCommitOfTheBuild(t *testing.T) {
	build := &debug.BuildInfo{Settings: []debug.BuildSetting{
		{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "abc"},
	}}
	require.Equal(t, "abc", metrics.Revision(build, true))
	require.Empty(t, metrics.Revision(&debug.BuildInfo{}, true))
	require.Empty(t, metrics.Revision(nil, false))
}
