package configs_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe/configs"
	"lethe/partition"
	"lethe/trainer"
	"lethe/trainer/models"
)

// In testdata/load every line of a case is NAME=value for the environment or
// "--key value" for the command line, and "file:" starts the file. The output
// is what differs from the defaults, or the problems.
func TestLoad(t *testing.T) {
	datadriven.RunTest(t, "testdata/load", func(t *testing.T, d *datadriven.TestData) string {
		opts := configs.LoadOptions{Overrides: map[string]any{}}
		settings, content, hasFile := strings.Cut(d.Input, "file:\n")
		for line := range strings.Lines(settings) {
			line = strings.TrimSuffix(line, "\n")
			if flag, ok := strings.CutPrefix(line, "--"); ok {
				key, value, _ := strings.Cut(flag, " ")
				opts.Overrides[key] = value
				continue
			}
			opts.Environ = append(opts.Environ, line)
		}
		folder := t.TempDir()
		if hasFile {
			opts.File = filepath.Join(folder, "lethe.yaml")
			require.NoError(t, os.WriteFile(opts.File, []byte(content), 0o600))
		}
		c, err := configs.Load(opts)
		if err != nil {
			return strings.ReplaceAll(err.Error(), folder+string(filepath.Separator), "") + "\n"
		}
		return difference(t, configs.Default(), c)
	})
}

func difference(t require.TestingT, from, to configs.Config) string {
	before, err := from.YAML(false)
	require.NoError(t, err)
	after, err := to.YAML(false)
	require.NoError(t, err)
	known := map[string]bool{}
	section := ""
	for line := range strings.Lines(string(before)) {
		section = sectionOf(section, line)
		known[section+line] = true
	}
	var b strings.Builder
	for line := range strings.Lines(string(after)) {
		section = sectionOf(section, line)
		if !known[section+line] {
			fmt.Fprintf(&b, "%s%s", section, strings.TrimLeft(line, " "))
		}
	}
	return b.String()
}

func sectionOf(current, line string) string {
	switch {
	case strings.HasPrefix(line, " "):
		return current
	case strings.HasSuffix(line, ":\n"):
		return strings.TrimSuffix(line, ":\n") + "."
	default:
		return ""
	}
}

func TestOverridesTakeTheFieldsOwnTypes(t *testing.T) {
	c, err := configs.Load(configs.LoadOptions{Overrides: map[string]any{
		"roles":                  []string{"build"},
		"seed":                   uint64(math.MaxUint64),
		"embedded.sync_writes":   true,
		"erasure.verify_timeout": time.Minute,
		"partition.shards":       3,
		"scoring.threshold":      0.75,
	}})
	require.NoError(t, err)
	want := configs.Default()
	want.Roles = []string{"build"}
	want.Seed = math.MaxUint64
	want.Embedded.SyncWrites = true
	want.Erasure.VerifyTimeout = time.Minute
	want.Partition.Shards = 3
	want.Scoring.Threshold = "0.75"
	require.Equal(t, want, c)
}

func TestDefaultIsValidAndFresh(t *testing.T) {
	c := configs.Default()
	require.NoError(t, c.Validate())
	c.Roles[0] = "changed"
	require.NoError(t, configs.Default().Validate(), "two callers must not share a list")
	require.NoError(t, configs.PerShard().Validate())
}

// Any model, however many shards there are, is all that has to be said.
func TestEveryModelHasDefaults(t *testing.T) {
	for _, model := range append(models.Served().Names(), trainer.Trees, trainer.Logistic, trainer.Blend, configs.Stack) {
		for _, shards := range []int{1, 2, 50} {
			c, err := configs.Load(configs.LoadOptions{Overrides: map[string]any{
				"trainer.model": model, "partition.shards": shards,
			}})
			require.NoError(t, err, model)
			l, err := c.Layout()
			require.NoError(t, err)
			require.NoError(t, l.Validate(), model)
		}
	}
}

// What is printed is read back as the same configuration.
func TestYAMLRoundTrip(t *testing.T) {
	folder := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		want := configs.Default()
		want.DataDir = rapid.StringMatching(`[ -~]{1,20}`).Draw(rt, "folder")
		want.SecretFile = rapid.SampledFrom([]string{"", "null", "yes", "1e3", "~", "a: b", "#c", "é\t"}).Draw(rt, "secret")
		want.Seed = rapid.Uint64().Draw(rt, "seed")
		want.Kafka.Brokers = rapid.SampledFrom([][]string{{}, {"a:1"}, {"[::1]:9092", "b:2"}}).Draw(rt, "brokers")
		want.Trainer.LearningRate = rapid.Float64Range(1e-12, 10).Draw(rt, "rate")
		want.Trainer.WeightDecay = rapid.Float64Range(0, 10).Draw(rt, "decay")
		want.Embedded.CleanInterval = time.Duration(rapid.Int64Range(1e7, 3600e9).Draw(rt, "interval"))
		want.Embedded.SyncWrites = rapid.Bool().Draw(rt, "sync")
		text, err := want.YAML(false)
		require.NoError(rt, err)
		file := filepath.Join(folder, "round.yaml")
		require.NoError(rt, os.WriteFile(file, text, 0o600))
		got, err := configs.Load(configs.LoadOptions{File: file})
		require.NoError(rt, err, string(text))
		require.Equal(rt, want, got, string(text))
	})
}

func TestYAMLRedactsKeyFiles(t *testing.T) {
	c := configs.Default()
	c.SecretFile, c.SigningKeyFile = "/vault/one", "/vault/two"
	open, err := c.YAML(false)
	require.NoError(t, err)
	require.Contains(t, string(open), "/vault/one")
	closed, err := c.YAML(true)
	require.NoError(t, err)
	require.NotContains(t, string(closed), "/vault")
	require.Equal(t, "/vault/one", c.SecretFile, "printing must not change the configuration")
}

// What is passed on with --redact holds no secret: none of an address either, and no name of a file of one.
func TestYAMLRedactsSecretsInAddresses(t *testing.T) {
	c := configs.Default()
	c.Webhooks.URL = "https://user:S3CR3T@hooks.example/services/S3CR3T?token=S3CR3T#S3CR3T"
	c.HTTP.OIDC.Issuer = "https://S3CR3T@issuer.example/realm?key=S3CR3T"
	c.KMS.Address, c.KMS.TokenFile = "https://vault.example:8200?x=S3CR3T", "/S3CR3T"
	c.Webhooks.SecretFile, c.HTTP.TokensFile, c.HTTP.TLS.KeyFile = "/S3CR3T", "/S3CR3T", "/S3CR3T"
	text, err := c.YAML(true)
	require.NoError(t, err)
	require.NotContains(t, string(text), "S3CR3T")
	for _, kept := range []string{
		"https://[redacted]@hooks.example/[redacted]", "https://[redacted]@issuer.example/realm?[redacted]",
		"https://vault.example:8200?[redacted]",
	} {
		require.Contains(t, string(text), kept)
	}
}

func TestKeyPathsFollowTheDataFolder(t *testing.T) {
	c := configs.Default()
	c.DataDir = "data"
	require.Equal(t, filepath.Join("data", "keys", "secret"), c.SecretPath())
	require.Equal(t, filepath.Join("data", "keys", "receipt-ed25519.pem"), c.SigningKeyPath())
	c.SecretFile, c.SigningKeyFile = "s", "k"
	require.Equal(t, "s", c.SecretPath())
	require.Equal(t, "k", c.SigningKeyPath())
}

// 0 is a default in a file or a flag; what the packages run with is a value.
func TestZeroIsWrittenForADefault(t *testing.T) {
	load := func(overrides map[string]any) configs.Config {
		c, err := configs.Load(configs.LoadOptions{Overrides: overrides})
		require.NoError(t, err)
		return c
	}
	zeros := load(map[string]any{"partition.alpha": 0, "partition.sweeps": 0, "partition.refine_sweeps": 0,
		"trainer.workers": 0})
	want := partition.Defaults()
	want.Seed = 1
	require.Equal(t, want, zeros.PartitionConfig())
	require.Positive(t, zeros.Workers())

	given := load(map[string]any{"partition.alpha": 0.01, "partition.sweeps": 7, "partition.refine_sweeps": 9,
		"trainer.workers": 3})
	want.Sweeps, want.RefineSweeps.Least, want.RefineSweeps.Most = 7, 9, 9
	want.MaxShift = math.Inf(1) // an alpha that is written holds for every graph
	require.Equal(t, want, given.PartitionConfig())
	require.Equal(t, 3, given.Workers())
}

func TestEverySettingHasHelp(t *testing.T) {
	for _, s := range configs.Settings() {
		require.NotEmpty(t, s.Help, s.Key)
	}
}

// TestRoles: build stands for the two roles that it was split into, which share
// stores and so a process.
func TestRoles(t *testing.T) {
	const together = "want graphs and erasure together, since they share their stores"
	for written, want := range map[string]string{
		"build":                      "graphs,erasure",
		"train,build":                "graphs,erasure,train",
		"erasure,graphs,build":       "graphs,erasure",
		"graphs,erasure,train,score": "graphs,erasure,train,score",
		"score":                      "score",
		"graphs":                     "roles is [graphs], " + together,
		"erasure,score":              "roles is [erasure score], " + together,
	} {
		c := configs.Default()
		c.Roles = strings.Split(written, ",")
		if err := c.Validate(); err != nil {
			require.EqualError(t, err, want)
			continue
		}
		require.Equal(t, want, strings.Join(c.Plays(), ","), written)
	}
}
