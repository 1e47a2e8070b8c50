package configs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/configs"
	"lethe/partition"
)

// Every *.bad.yml lists the problems to be reported in its "# want: " lines.
func TestBadFilesReportEveryProblem(t *testing.T) {
	files, err := filepath.Glob("testdata/files/*.bad.yml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			content, err := os.ReadFile(file)
			require.NoError(t, err)
			// What other packages list is not spelled out in the files.
			listed := strings.NewReplacer("FILE", file, "QUOTA", strings.Join(partition.Methods(), ", "))
			var want []string
			for line := range strings.Lines(string(content)) {
				if text, ok := strings.CutPrefix(strings.TrimSpace(line), "# want: "); ok {
					want = append(want, listed.Replace(text))
				}
			}
			c, err := configs.Load(configs.LoadOptions{File: file})
			require.Error(t, err)
			require.Zero(t, c)
			require.Equal(t, want, strings.Split(err.Error(), "\n"))
		})
	}
}

func TestGoodFiles(t *testing.T) {
	load := func(name string) configs.Config {
		c, err := configs.Load(configs.LoadOptions{File: filepath.Join("testdata/files", name+".good.yml")})
		require.NoError(t, err)
		return c
	}
	require.Equal(t, configs.Default(), load("empty"))

	partial := configs.Default()
	partial.Partition.Shards = 7
	partial.Erasure.VerifyTimeout = 90 * 60e9
	require.Equal(t, partial, load("partial"))

	numbers := configs.Default()
	numbers.Seed = 18446744073709551615
	numbers.Trainer.LearningRate = 1
	numbers.Trainer.WeightDecay = 5e-4
	numbers.Scoring.Threshold = "0.25"
	require.Equal(t, numbers, load("numbers"))

	lists := configs.Default()
	lists.Roles = []string{"score", "train"}
	lists.Kafka.Brokers = []string{"a:9092", "b:9092"}
	lists.Kafka.ReplicationFactor = 2
	require.Equal(t, lists, load("lists"))
}

func TestMissingFile(t *testing.T) {
	_, err := configs.Load(configs.LoadOptions{File: "testdata/absent.yml"})
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestExamples(t *testing.T) {
	files, err := filepath.Glob("examples/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		_, err := configs.Load(configs.LoadOptions{File: file})
		require.NoError(t, err, file)
	}
}

// What was the default is one line away.
func TestGINExampleIsPerShard(t *testing.T) {
	c, err := configs.Load(configs.LoadOptions{File: "examples/gin.yaml"})
	require.NoError(t, err)
	require.Equal(t, configs.PerShard(), c)
	c, err = configs.Load(configs.LoadOptions{Defaults: configs.PerShard})
	require.NoError(t, err)
	require.Equal(t, configs.PerShard(), c)
}

// The example of the embedded broker doubles as the list of all keys.
func TestEmbeddedExampleIsTheDefault(t *testing.T) {
	const file = "examples/embedded.yaml"
	c, err := configs.Load(configs.LoadOptions{File: file})
	require.NoError(t, err)
	require.Equal(t, configs.Default(), c)
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, key := range configs.Keys() {
		section, name, nested := strings.Cut(key, ".")
		if nested {
			_, rest, found := strings.Cut(string(content), "\n"+section+":\n")
			require.True(t, found, section)
			block, _, _ := strings.Cut(rest, "\n\n")
			if inner, last, deeper := strings.Cut(name, "."); deeper {
				_, block, found = strings.Cut("\n"+block, "\n  "+inner+":")
				require.True(t, found, key)
				name = "  " + last
			}
			require.Contains(t, "\n"+block, "\n  "+name+":", key)
			continue
		}
		require.Contains(t, string(content), "\n"+section+":", key)
	}
}

// A file is either refused or a configuration that is valid.
func FuzzLoad(f *testing.F) {
	f.Add([]byte("partition:\n  shards: 3\ntrainer: {model: logistic, schedule: window}\nrepair: {one_hop: true}\n"))
	f.Add([]byte("erasure:\n  verify_timeout: 1m30s\nkafka: {brokers: [a:1, b:2]}\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), "lethe.yaml")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := configs.Load(configs.LoadOptions{File: path})
		if err != nil {
			return
		}
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
	})
}
