package service_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/ingest/schemas"
	"lethe/service"
	"lethe/service/servicetest"
)

// contracts compiles the schemas of all topics, and that of what a receipt says.
func contracts(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	compiler, out := jsonschema.NewCompiler(), make(map[string]*jsonschema.Schema)
	compiler.AssertFormat()
	for _, name := range schemas.Names() {
		text, err := schemas.Schema(name)
		require.NoError(t, err)
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		require.NoError(t, err)
		require.NoError(t, compiler.AddResource("urn:lethe:"+name, document))
	}
	for _, name := range schemas.Names() {
		schema, err := compiler.Compile("urn:lethe:" + name)
		require.NoError(t, err)
		out[name] = schema
	}
	statement, err := compiler.Compile("urn:lethe:receipts.v1#/$defs/statement")
	require.NoError(t, err)
	out["statement"] = statement
	return out
}

// isContract reports whether a record is of those that a topic's contract is about.
func isContract(topic bus.Topic, rec ingest.Record) bool {
	key := string(rec.Key)
	switch {
	case rec.Tombstone(), strings.HasPrefix(key, "!"):
		return false
	case topic == bus.Log:
		return key != "checkpoint"
	default:
		return true
	}
}

// described is what a schema is of: the value of a record, or its headers.
func described(t *testing.T, c schemas.Contract, rec ingest.Record) any {
	t.Helper()
	text := rec.Value
	if c.OfHeaders {
		headers := make(map[string]string)
		for _, h := range rec.Headers {
			headers[h.Key] = string(h.Value)
		}
		var err error
		text, err = json.Marshal(headers)
		require.NoError(t, err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err, "%s: %s", c.Topic, rec.Key)
	return value
}

// What a running deployment has in its topics is as the contracts say, every topic that has one
// has records to show, and what is changed is noticed.
func TestRecordsKeepTheirContracts(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 4, 60, 31)
	config := servicetest.SmallConfig(t, t.TempDir())
	config.Scoring.Threshold, config.Scoring.Reasons = "0", 20 // everything gets reasons
	s := start(t, config)
	s.Replay(stream)
	reasonsOf(s, 3*60)
	const broken = "broken"
	require.NoError(t, s.Client().Write(t.Context(), bus.Transactions, []ingest.Outgoing{{
		Key: []byte(broken), Value: []byte(`{"type":"transaction","id":"broken","timestep":"soon"}`),
	}}))
	asked := request(t, "contract", servicetest.LabelledIllicit(stream, 3)[0])
	submit(s, asked)
	require.Equal(t, deletions.Verified, s.Outcome("contract"))
	s.Await(func(*service.Status) bool { return len(deadLetters(s)) > 0 })

	all := contracts(t)
	for _, c := range schemas.Contracts() {
		topic, checked := bus.Topic(c.Topic), 0
		check := func(rec ingest.Record) error {
			if !isContract(topic, rec) {
				return nil
			}
			checked++
			err := all[c.Topic].Validate(described(t, c, rec))
			if topic == bus.Transactions && string(rec.Key) == broken {
				require.Error(t, err, "what is refused breaks the contract")
				return nil
			}
			require.NoError(t, err, "%s: %s", topic, rec.Value)
			if topic == bus.Receipts {
				requireStatement(t, all["statement"], rec.Value)
			}
			return nil
		}
		require.NoError(t, s.Client().ReadAll(t.Context(), topic, check))
		if topic == bus.Erasures { // the request itself is gone
			require.NoError(t, check(ingest.Record{Key: asked.Key, Value: asked.Value}))
		}
		require.Positive(t, checked, "nothing of %s was compared", topic)
	}
	require.Error(t, all["predictions.v1"].Validate(map[string]any{"id": "x"}))
	require.Error(t, all["erasure-status.v1"].Validate(map[string]any{"format": "lethe-erasure-ack/1"}))
}

func requireStatement(t *testing.T, schema *jsonschema.Schema, signed []byte) {
	t.Helper()
	var document struct {
		Payload string `json:"payload"`
	}
	require.NoError(t, json.Unmarshal(signed, &document))
	said, err := base64.RawURLEncoding.DecodeString(document.Payload)
	require.NoError(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(said))
	require.NoError(t, err)
	require.NoError(t, schema.Validate(value))
}
