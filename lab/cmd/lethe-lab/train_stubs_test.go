package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/internal/command"
	"lethe/lab/graphs"
)

func TestDefaultMinStubs(t *testing.T) {
	for _, c := range []struct {
		kind   graphs.Kind
		model  string
		shards int
		repair string
		want   int
	}{
		{graphs.CitationArchive, "sage", 20, "mixup", 4},
		{graphs.CitationArchive, "gin", 20, "mixup", 1},
		{graphs.CitationArchive, "sage", 20, "zero", 4},
		{graphs.CitationArchive, "sage", 20, "none", 0},
		{graphs.CitationArchive, "sage", 20, "truth", 0},
		{graphs.CitationArchive, "sage", 1, "mixup", 0},
		{graphs.Elliptic, "sage", 20, "mixup", 0},
	} {
		train := &trainCmd{Model: c.model, Shards: c.shards, Repair: c.repair}
		require.NoError(t, train.fillMinStubs(c.kind))
		require.Equal(t, c.want, *train.MinStubs, "%+v", c)
	}
}

func TestMinStubsNeedStubs(t *testing.T) {
	for _, repair := range []string{"none", "truth"} {
		code, _, stderr := runLethe(t, "train", "--dataset", twoCliques(t), "--shards", "2", "--model", "sage", "--repair",
			repair, "--min-stubs", "2")
		require.Equal(t, command.ExitUsage, code)
		require.Contains(t, stderr, "--min-stubs is 2, must be 0 with --repair "+repair)
	}
}
