package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/lab/networks"
	"lethe/scoring/ensemble"
	"lethe/trainer"
)

func TestComponentsAreReadFromText(t *testing.T) {
	const trees = "trees:4:rounds=300:leaves=15:rate=.06:features=.4:rows=9:bins=32:l2=2:weights=balanced:seed=7"
	c, err := parseComponent(trees, 20, 1)
	require.NoError(t, err)
	want := ensemble.ComponentDefaults(trainer.Trees, trainer.Defaults())
	want.ClassWeights, want.Seed = trainer.BalancedClasses, 7
	want.Trees.Rounds, want.Trees.MaxLeaves, want.Trees.LearningRate, want.Trees.FeatureShare = 300, 15, .06, .4
	want.Trees.MinChildRows, want.Trees.MaxBins, want.Trees.L2 = 9, 32, 2
	require.Equal(t, want, c.config)
	require.Equal(t, 4, c.groups)
	require.False(t, c.raw)

	c, err = parseComponent("elliptic-gin:20:raw:hidden=32:passes=2:window=5", 20, 3)
	require.NoError(t, err)
	want = trainer.DefaultsOf("elliptic-gin")
	require.Equal(t, networks.More().Names(), c.config.Networks.Names())
	c.config.Networks = nil
	want.Hidden, want.Passes, want.WindowTimesteps, want.Seed = 32, 2, 5, 3
	require.Equal(t, want, c.config)
	require.True(t, c.raw)

	c, err = parseComponent("logistic:2:l2=9", 20, 1)
	require.NoError(t, err)
	require.InDelta(t, 9, c.config.Logistic.L2, 0)
	require.InDelta(t, trainer.DefaultsOf(trainer.Trees).Trees.L2, c.config.Trees.L2, 0)
}

func TestComponentsThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		"trees":               "want MODEL:GROUPS with 2 to 20 groups",
		"blend:2":             "want MODEL:GROUPS",
		"trees:1":             "2 to 20 groups",
		"trees:21":            "2 to 20 groups",
		"trees:0":             "at least 1 group",
		"trees:x":             "at least 1 group",
		"trees:2:seed=x":      `seed is "x"`,
		"trees:2:colour=red":  `there is no key "colour"`,
		"trees:2:rounds=many": `rounds is "many"`,
	} {
		_, err := parseComponent(text, 20, 1)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "component ")
	}
}

func TestEnsemblesShareComponents(t *testing.T) {
	all, ensembles, err := parseEnsembles([]string{"trees:4, logistic:2", "logistic:2,trees:5"}, 20, 1)
	require.NoError(t, err)
	require.Len(t, all, 3)
	require.Equal(t, [][]int{{0, 1}, {1, 2}}, ensembles)
	_, _, err = parseEnsembles([]string{"trees:4,trees:4"}, 20, 1)
	require.EqualError(t, err, `component "trees:4" is in the ensemble twice`)
	_, _, err = parseEnsembles([]string{"trees:4,"}, 20, 1)
	require.ErrorContains(t, err, `component ""`)
}
