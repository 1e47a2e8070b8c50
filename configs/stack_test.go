package configs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/configs"
	"lethe/scoring/ensemble"
	"lethe/trainer"
)

// What the section trainer says of a network holds for those of a stack; its other
// components have their own defaults and what stands behind their names.
func TestTheNetworksOfAStackAreThoseOfTheSection(t *testing.T) {
	c := configs.Default()
	c.Seed, c.Partition.Shards = 7, 6
	c.Trainer.Hidden, c.Trainer.Passes = 16, 2
	c.Trainer.Model = configs.Stack
	c.Trainer.Components = []string{"elliptic-gin", "elliptic-gin:3:passes=1", "trees:2:leaves=5"}
	c.Scoring.Aggregation = "stack"
	require.NoError(t, c.Validate())
	l, err := c.Layout()
	require.NoError(t, err)
	require.Equal(t, []int{6, 3, 2}, []int{l.Components[0].Groups, l.Components[1].Groups, l.Components[2].Groups})

	want := trainer.DefaultsOf("elliptic-gin")
	want.Hidden, want.Passes, want.Seed = 16, 2, 7
	require.Equal(t, want, l.Components[0].Config)
	require.Equal(t, "elliptic-gin", l.Components[1].Config.Model)
	require.Equal(t, 16, l.Components[1].Config.Hidden)
	require.Equal(t, 1, l.Components[1].Config.Passes)
	want = ensemble.ComponentDefaults(trainer.Trees, trainer.Defaults())
	want.Trees.MaxLeaves, want.Seed = 5, 7
	require.Equal(t, want, l.Components[2].Config)

	c.Trainer.Hidden = 1
	require.ErrorContains(t, c.Validate(), "trainer.hidden is 1")
	c.Trainer.Hidden, c.Trainer.Components = 16, []string{"sage:2"}
	require.ErrorContains(t, c.Validate(), "want MODEL:GROUPS with one of the models elliptic-gin, trees, logistic")
}
