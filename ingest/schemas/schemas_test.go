package schemas_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"lethe/ingest/bus"
	"lethe/ingest/schemas"
)

// Every topic has a contract or is said to be lethe's own, and every contract is a schema.
func TestEveryTopicHasItsContract(t *testing.T) {
	var named []string
	for _, c := range schemas.Contracts() {
		named = append(named, c.Topic)
	}
	named = append(named, schemas.Internal()...)
	var topics []string
	for _, topic := range bus.Topics() {
		topics = append(topics, string(topic))
	}
	require.ElementsMatch(t, topics, named)

	compiler := jsonschema.NewCompiler()
	for _, name := range schemas.Names() {
		text, err := schemas.Schema(name)
		require.NoError(t, err)
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		require.NoError(t, err, name)
		require.NoError(t, compiler.AddResource("urn:lethe:"+name, document))
	}
	for _, name := range schemas.Names() {
		_, err := compiler.Compile("urn:lethe:" + name)
		require.NoError(t, err, name)
	}
	_, err := schemas.Schema("nothing.v1")
	require.ErrorContains(t, err, "predictions.v1")
}

// The document is as AsyncAPI's own schema has it, and names every topic by its full name.
func TestTheDocumentIsAsyncAPI(t *testing.T) {
	official, err := os.ReadFile("testdata/asyncapi-3.0.0.json")
	require.NoError(t, err)
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(official))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("asyncapi", document))
	schema, err := compiler.Compile("asyncapi")
	require.NoError(t, err)

	text, err := schemas.AsyncAPI("shop.", "test")
	require.NoError(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	require.NoError(t, schema.Validate(value))

	var read struct {
		Channels map[string]struct {
			Address string `json:"address"`
		} `json:"channels"`
		Operations map[string]struct {
			Action string `json:"action"`
		} `json:"operations"`
	}
	require.NoError(t, json.Unmarshal(text, &read))
	var addresses []string
	for _, c := range read.Channels {
		addresses = append(addresses, c.Address)
	}
	slices.Sort(addresses)
	require.Equal(t, []string{
		"shop.dlq.v1", "shop.erasure-status.v1", "shop.erasures.v1", "shop.labels.v1", "shop.log.v1", "shop.predictions.v1",
		"shop.reasons.v1", "shop.receipts.v1", "shop.transactions.v1",
	}, addresses)
	require.Equal(t, "receive", read.Operations["receive_transactions_v1"].Action)
	require.Equal(t, "send", read.Operations["send_predictions_v1"].Action)

	// One that is no AsyncAPI is refused: the schema says something.
	require.Error(t, schema.Validate(map[string]any{"asyncapi": "3.0.0"}))
}
