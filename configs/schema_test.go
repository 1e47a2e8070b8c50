package configs_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"lethe/configs"
)

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := json.Marshal(configs.Schema())
	require.NoError(t, err)
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	require.NoError(t, c.AddResource("config.json", document))
	compiled, err := c.Compile("config.json")
	require.NoError(t, err)
	return compiled
}

// fits reports whether the schema takes a YAML file.
func fits(t *testing.T, text string) error {
	t.Helper()
	var tree any
	require.NoError(t, yaml.Unmarshal([]byte(text), &tree))
	encoded, err := json.Marshal(tree)
	require.NoError(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(encoded))
	require.NoError(t, err)
	return schema(t).Validate(value)
}

// The schema takes what lethe prints of its own configuration, and every example.
func TestSchemaTakesConfigurations(t *testing.T) {
	own, err := configs.Default().YAML(false)
	require.NoError(t, err)
	require.NoError(t, fits(t, string(own)))
	examples, err := filepath.Glob("examples/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, examples)
	for _, path := range examples {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, fits(t, string(text)), path)
	}
}

// What Load refuses for its name or its type, the schema refuses.
func TestSchemaRefusesWhatLoadRefuses(t *testing.T) {
	for _, text := range []string{
		"trainer: {hiden: 64}", "nothing: 1", "trainer: {hidden: wide}", "seed: -1", "partition: {shards: 1.5}",
		"erasure: {batch_window: 5 seconds}", "kafka: {brokers: {a: b}}", "repair: {one_hop: maybe}",
	} {
		require.Error(t, fits(t, text), text)
		path := filepath.Join(t.TempDir(), "lethe.yaml")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := configs.Load(configs.LoadOptions{File: path})
		require.Error(t, err, text)
	}
}
