package service_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"lethe/audit"
	"lethe/configs"
	"lethe/ingest/bus"
	"lethe/pipeline/graphs"
	"lethe/service"
	"lethe/service/servicetest"
)

// second opens a process beside another, on its brokers and with a folder of its own.
func second(t *testing.T, first *running, c configs.Config, change func(*configs.Config)) (*service.Service, error) {
	t.Helper()
	c.DataDir, c.Kafka.Brokers = t.TempDir(), first.Brokers()
	change(&c)
	return service.New(t.Context(), servicetest.Options(c))
}

// Processes that share topics share settings: one that has others is refused, and
// told which, what they are elsewhere and here, and what to do.
func TestAProcessWithOtherSettingsIsRefused(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, t.TempDir())
	c.Roles = []string{configs.RoleBuild, configs.RoleTrain}
	first := start(t, c)
	other := servicetest.SmallConfig(t, t.TempDir())
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

	first.Stop()
	c.Seed = 99
	_, err = audit.Check(t.Context(), audit.Options{Config: c})
	require.ErrorIs(t, err, graphs.ErrSettings)
	require.ErrorContains(t, err, "seed was 1, now it is 99")
}

// Train may change its settings; a process that scores under the earlier ones is
// stopped as soon as train says so.
func TestScoreStopsWhenTrainChangesItsSettings(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, t.TempDir())
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

// A data directory does not play a role that the process with the broker plays alone, unless an
// operator says that the other is gone for good. Beside others it does, and if it takes over they
// stop.
func TestASecondInstanceOfARoleStandsBy(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, t.TempDir())
	c.Roles = []string{configs.RoleBuild, configs.RoleTrain}
	first := start(t, c)
	open := func(role, random string, takeOver bool) (*service.Service, error) {
		c := c
		c.Roles, c.DataDir, c.Kafka.Brokers = []string{role}, t.TempDir(), first.Brokers()
		o := servicetest.Options(c)
		o.Random, o.TakeOver = strings.NewReader(strings.Repeat(random, 99)), takeOver
		return service.New(t.Context(), o)
	}
	_, err := open(configs.RoleTrain, "zero", false)
	require.ErrorIs(t, err, service.ErrInstance)
	require.ErrorContains(t, err, "train is played by instance")
	require.ErrorContains(t, err, "--take-over")

	ended := make(chan error, 2)
	for _, name := range []string{"one", "two"} {
		s, err := open(configs.RoleScore, name, false)
		require.NoError(t, err)
		defer s.Close()
		go func() { ended <- s.Run(t.Context()) }()
	}
	select {
	case err := <-ended:
		require.NoError(t, err, "both go on")
	case <-time.After(300 * time.Millisecond):
	}
	three, err := open(configs.RoleScore, "three", true)
	require.NoError(t, err)
	defer three.Close()
	for range 2 {
		require.ErrorIs(t, <-ended, service.ErrStruck)
	}
}

// Several data directories train, and none begins beside one that trains alone, as that of
// the process with the broker does. With other settings it begins only if told to change them.
func TestSeveralInstancesTrain(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, t.TempDir())
	c.Roles = []string{configs.RoleBuild}
	first := start(t, c)
	open := func(random string, change func(o *service.Options)) (*service.Service, error) {
		c := c
		c.Roles, c.DataDir, c.Kafka.Brokers = []string{configs.RoleTrain}, t.TempDir(), first.Brokers()
		o := servicetest.Options(c)
		o.Random = strings.NewReader(strings.Repeat(random, 99))
		change(&o)
		return service.New(t.Context(), o)
	}
	same, passes := func(*service.Options) {}, func(o *service.Options) { o.Config.Trainer.Passes = 3 }
	ended := make(chan error, 2)
	for _, name := range []string{"one", "two"} {
		s, err := open(name, same)
		require.NoError(t, err)
		defer s.Close()
		go func() { ended <- s.Run(t.Context()) }()
	}
	_, err := open("three", passes)
	require.ErrorIs(t, err, service.ErrSettings)
	require.ErrorContains(t, err, "trainer.passes is 3 here, train has 1")
	require.ErrorContains(t, err, "--change-settings")

	secret, err := configs.LoadOrCreateSecret(c.SecretFile, nil)
	require.NoError(t, err)
	membership := service.Membership{Client: first.Client(), Secret: secret}
	members, err := membership.List(t.Context())
	require.NoError(t, err)
	require.Len(t, members, 4, "graphs, erasure and two that train")
	_, err = membership.Strike(t.Context(), configs.RoleTrain, "ffff", time.Now())
	require.ErrorIs(t, err, service.ErrMember)

	three, err := open("three", func(o *service.Options) { passes(o); o.ChangeSettings = true })
	require.NoError(t, err)
	defer three.Close()
	for range 2 {
		require.ErrorIs(t, <-ended, service.ErrSettings, "the others stop")
	}
}

// Partitions that are added while lethe runs are named, and no timestep is closed
// or settled any more, for it would lack what goes to them. A new start is refused.
func TestAddedPartitionsAreNamed(t *testing.T) {
	c := servicetest.SmallConfig(t, t.TempDir())
	first := start(t, c)
	stream := servicetest.SmallStream(t, 3, 40, 3)
	begin, rest := servicetest.Part(t, stream, 1, 1), servicetest.Part(t, stream, 2, 3)
	first.Replay(begin)
	transport := &kafka.Transport{}
	defer transport.CloseIdleConnections()
	raw := &kafka.Client{Addr: kafka.TCP(first.Brokers()...), Transport: transport}
	_, err := raw.CreatePartitions(t.Context(), &kafka.CreatePartitionsRequest{
		Topics: []kafka.TopicPartitionsConfig{{Name: first.Client().Name(bus.Transactions), Count: 5}},
	})
	require.NoError(t, err)
	_, err = service.Replay(t.Context(), first.Client(), rest, service.ReplayOptions{})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		return strings.Contains(first.Page("/readyz"),
			"transactions.v1: it has 5 partitions, and had 2 when lethe began")
	}, 20*time.Second, 50*time.Millisecond)
	var counts service.TimestepCounts
	require.Eventually(t, func() bool { // the records are read beside the watch
		status, err := first.Status(t.Context())
		counts = status.Timesteps
		return err == nil && counts.Open == 2
	}, 20*time.Second, 50*time.Millisecond)
	require.Equal(t, service.TimestepCounts{Open: 2, Settled: 1}, counts)
	first.Stop()
	err = refused(t, c)
	require.ErrorIs(t, err, service.ErrSettings)
	require.ErrorContains(t, err, "partitions of transactions.v1 is 5 here, graphs has 2")
}
