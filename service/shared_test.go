package service_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/audit"
	"lethe/configs"
	"lethe/pipeline/graphs"
	"lethe/service"
)

// second opens a process beside another, on its brokers and with a folder of its own.
func second(t *testing.T, first *running, c configs.Config, change func(*configs.Config)) (*service.Service, error) {
	t.Helper()
	c.DataDir, c.Kafka.Brokers = t.TempDir(), first.Brokers()
	change(&c)
	return service.New(t.Context(), service.Options{
		Config: c, Version: "test", Random: zeroReader{}, Logger: slog.New(slog.DiscardHandler),
	})
}

// Processes that share topics share settings: one that has others is refused, and
// told which, what they are elsewhere and here, and what to do.
func TestAProcessWithOtherSettingsIsRefused(t *testing.T) {
	c := smallConfig(t, t.TempDir())
	c.Roles = []string{configs.RoleBuild, configs.RoleTrain}
	first := start(t, c)
	other := smallConfig(t, t.TempDir())
	otherSecret := filepath.Join(t.TempDir(), "secret")
	_, err := configs.LoadOrCreateSecret(otherSecret, strings.NewReader(strings.Repeat("another ", 8)))
	require.NoError(t, err)
	for name, play := range map[string]struct {
		role   string
		change func(*configs.Config)
		want   []string
	}{
		"seed": {configs.RoleTrain, func(c *configs.Config) { c.Seed = 99 },
			[]string{"seed is 99 here, graphs has 1", "give this process"}},
		"shards": {configs.RoleScore, func(c *configs.Config) { c.Partition.Shards = 5 },
			[]string{"partition.shards is 5", "graphs has 4"}},
		"rows": {configs.RoleScore, func(c *configs.Config) { c.Repair.OneHop = true },
			[]string{"repair.one_hop is true", "graphs has false"}},
		"model": {configs.RoleScore, func(c *configs.Config) { c.Trainer.Model = "trees" },
			[]string{"trainer.model is trees", "train has elliptic-gin"}},
		"two at once": {configs.RoleScore, func(c *configs.Config) { c.Seed, c.Trainer.Hidden = 99, 16 },
			[]string{"seed is 99", "trainer.hidden is 16", "train has 8"}},
		"secret": {configs.RoleTrain, func(c *configs.Config) { c.SecretFile = otherSecret },
			[]string{"secret_file", "graphs has"}},
		"graphs from an empty folder": {configs.RoleBuild, func(c *configs.Config) { c.Seed = 99 },
			[]string{"seed is 99", "graphs has 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := second(t, first, other, func(c *configs.Config) {
				c.Roles = []string{play.role}
				play.change(c)
			})
			if err == nil {
				require.NoError(t, s.Close())
			}
			for _, want := range play.want {
				require.ErrorContains(t, err, want)
			}
			require.NotContains(t, err.Error(), "010203", "nothing of a key is told")
		})
	}
	same, err := second(t, first, c, func(c *configs.Config) {
		c.Roles, c.Trainer.Workers, c.Scoring.LabelLagTimesteps = []string{configs.RoleScore}, 1, 2
	})
	require.NoError(t, err, "what others need not share may differ")
	require.NoError(t, same.Close())

	first.stop()
	c.Seed = 99
	_, err = audit.Check(t.Context(), audit.Options{Config: c})
	require.ErrorIs(t, err, graphs.ErrSettings)
	require.ErrorContains(t, err, "seed was 1, now it is 99")
}

// Train may change its settings; a process that scores under the earlier ones is
// stopped as soon as train says so.
func TestScoreStopsWhenTrainChangesItsSettings(t *testing.T) {
	c := smallConfig(t, t.TempDir())
	c.Roles = []string{configs.RoleBuild}
	first := start(t, c)
	scores, err := second(t, first, c, func(c *configs.Config) { c.Roles = []string{configs.RoleScore} })
	require.NoError(t, err)
	defer scores.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- scores.Run(ctx) }()

	trains, err := second(t, first, c, func(c *configs.Config) {
		c.Roles, c.Trainer.Passes = []string{configs.RoleTrain}, 3
	})
	require.NoError(t, err)
	defer trains.Close()
	err = <-ended
	require.ErrorContains(t, err, "trainer.passes is 1 here, train has 3")
	require.NoError(t, ctx.Err())
}
