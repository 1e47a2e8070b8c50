package schemas_test

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/schemas"
)

const topicsPage = "../../docs/topics.md"

// example is a record that the page of the topics shows.
type example struct {
	topics []string
	// kind is the type of the record, or which of the topic's records it is.
	kind, key, text string
	// line is where it begins.
	line int
}

var (
	// exampleFence begins an example and names its topics and its kind, which renderers do not show.
	exampleFence = regexp.MustCompile("^```(json|text) ([a-z0-9.,-]+) ([a-z]+)$")
	// exampleKey is in a line before an example, with the key of its record.
	exampleKey = regexp.MustCompile("Key `([^`]+)`")
)

// examples reads the examples of the page. A block of JSON without a topic and a kind is an error.
func examples(t *testing.T) (out []example) {
	t.Helper()
	page, err := os.ReadFile(topicsPage)
	require.NoError(t, err)
	var open *example
	inside, key := false, ""
	for n, line := range strings.Split(string(page), "\n") {
		m := exampleFence.FindStringSubmatch(line)
		switch fence := strings.HasPrefix(line, "```"); {
		case m != nil && !inside:
			open, inside = &example{topics: strings.Split(m[2], ","), kind: m[3], key: key, line: n + 1}, true
			key = ""
		case fence && inside:
			if open != nil {
				out = append(out, *open)
			}
			open, inside = nil, false
		case fence:
			require.False(t, strings.HasPrefix(line, "```json"), "%s:%d: JSON without a topic and a kind", topicsPage, n+1)
			inside = true
		case open != nil:
			open.text += line + "\n"
		case exampleKey.MatchString(line):
			key = exampleKey.FindStringSubmatch(line)[1]
		}
	}
	require.False(t, inside, "the last block does not end")
	return out
}

// record is the example as it would be read from a topic. The key of a close, settle or marker names the partition.
func (e example) record(topic string) ingest.Record {
	rec := ingest.Record{Topic: "lethe." + topic, Key: []byte(e.key), Value: []byte(e.text)}
	rec.Partition, _ = strconv.Atoi(e.key[strings.LastIndex(e.key, "/")+1:])
	return rec
}

// exampleLimits are the default ones of the deployment that the examples were taken from.
func exampleLimits() ingest.Limits {
	limits := ingest.DefaultLimits()
	limits.FeatureCount = 6
	return limits
}

func decodeExample(t *testing.T, topic string, rec ingest.Record) (ingest.Event, error) {
	t.Helper()
	switch topic {
	case "transactions.v1":
		return ingest.DecodeTransactions(rec, exampleLimits())
	case "labels.v1":
		return ingest.DecodeLabels(rec, exampleLimits())
	default:
		require.Equal(t, "erasures.v1", topic)
		return ingest.DecodeErasure(rec, exampleLimits())
	}
}

// compiler knows the schemas of all topics.
func compiler(t *testing.T) *jsonschema.Compiler {
	t.Helper()
	out := jsonschema.NewCompiler()
	out.AssertFormat()
	for _, name := range schemas.Names() {
		text, err := schemas.Schema(name)
		require.NoError(t, err)
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		require.NoError(t, err)
		require.NoError(t, out.AddResource("urn:lethe:"+name, document))
	}
	return out
}

// kindsIn are the types of the records that others write to a topic, as its schema lists them.
func kindsIn(t *testing.T, topic string) (out []string) {
	t.Helper()
	text, err := schemas.Schema(topic)
	require.NoError(t, err)
	var schema struct {
		OneOf []struct {
			Ref string `json:"$ref"`
		} `json:"oneOf"`
	}
	require.NoError(t, json.Unmarshal(text, &schema))
	for _, one := range schema.OneOf {
		out = append(out, strings.TrimPrefix(one.Ref, "#/$defs/"))
	}
	require.Greater(t, len(out), 2, topic)
	return out
}

// kindsOut are the kinds of records that lethe writes for others to read.
func kindsOut(t *testing.T, topic string) []string {
	t.Helper()
	kinds, known := map[string][]string{
		"predictions.v1": {"provisional", "final", "late"}, "reasons.v1": {"reasons"}, "erasure-status.v1": {"status"},
		"receipts.v1": {"receipt", "statement"}, "log.v1": {"leaf", "checkpoint"}, "dlq.v1": {"headers", "value"},
	}[topic]
	require.True(t, known, "%s is a new topic: say which records it has", topic)
	return kinds
}

// Every kind of record of every topic has an example on the page.
func TestTopicsPageShowsEveryKindOfRecord(t *testing.T) {
	shown := make(map[string]bool)
	targets := make(map[string]bool)
	for _, e := range examples(t) {
		for _, topic := range e.topics {
			shown[topic+" "+e.kind] = true
		}
		var fields map[string]json.RawMessage
		if e.kind == "erasure" {
			require.NoError(t, json.Unmarshal([]byte(e.text), &fields))
		}
		for name := range fields {
			targets[name] = true
		}
	}
	for _, c := range schemas.Contracts() {
		kinds := kindsIn
		if c.Direction == schemas.Out {
			kinds = kindsOut
		}
		for _, kind := range kinds(t, c.Topic) {
			require.True(t, shown[c.Topic+" "+kind], "no example of %s on %s", kind, c.Topic)
		}
	}
	for _, name := range []string{"nodes", "payments", "features_of", "subjects", "until", "scope", "nonce", "deadline"} {
		require.True(t, targets[name], "no example of a request with %s", name)
	}
}

// What the page shows is what the schemas say.
func TestTopicsPageAgreesWithTheSchemas(t *testing.T) {
	c := compiler(t)
	for _, e := range examples(t) {
		for _, topic := range e.topics {
			place := "urn:lethe:" + topic
			switch {
			case e.kind == "checkpoint" || topic == "dlq.v1" && e.kind == "value":
				continue // not described by a schema
			case e.kind == "statement":
				place += "#/$defs/statement"
			}
			schema, err := c.Compile(place)
			require.NoError(t, err, "line %d", e.line)
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(e.text))
			require.NoError(t, err, "line %d", e.line)
			require.NoError(t, schema.Validate(value), "%s:%d", topicsPage, e.line)
			require.True(t, e.key != "" || e.kind == "statement", "line %d: no key", e.line)
		}
	}
}

// The decoders accept what the page tells others to write, under the keys that it shows, and find the same type.
func TestTopicsPageAgreesWithTheDecoders(t *testing.T) {
	var digest string
	digests, decoded := 0, 0
	for _, e := range examples(t) {
		for _, topic := range e.topics {
			in := slices.ContainsFunc(schemas.Contracts(), func(c schemas.Contract) bool {
				return c.Topic == topic && c.Direction == schemas.In
			})
			if !in {
				continue
			}
			decoded++
			event, err := decodeExample(t, topic, e.record(topic))
			require.NoError(t, err, "%s:%d", topicsPage, e.line)
			var said struct {
				Type   string `json:"type"`
				Digest string `json:"request_digest"`
			}
			require.NoError(t, json.Unmarshal([]byte(e.text), &said))
			require.Equal(t, e.kind, said.Type, "line %d", e.line)
			if request, is := event.(ingest.Erasure); is && request.RequestID == "gdpr-17" {
				sum, err := deletions.RequestDigest(request.ErasureRequest)
				require.NoError(t, err)
				digest = sum.String()
			}
			if said.Digest != "" {
				require.Equal(t, digest, said.Digest, "line %d: the digest is not that of the request", e.line)
				digests++
			}
		}
	}
	require.Greater(t, decoded, 14)
	require.Equal(t, 2, digests, "an approval and a cancellation")
}

// The examples of what lethe writes are consistent: a prediction is of its kind, contributions add up to the logit,
// and the decoder refuses the dead letter's record for the reason that the headers give.
func TestTopicsPageShowsConsistentRecords(t *testing.T) {
	letter := ingest.Record{Topic: "lethe.dlq.v1"}
	for _, e := range examples(t) {
		switch e.kind {
		case "provisional", "final", "late":
			var p struct {
				Transaction string
				Final, Late bool
			}
			require.NoError(t, json.Unmarshal([]byte(e.text), &p))
			require.Equal(t, []any{e.key, e.kind != "provisional", e.kind == "late"}, []any{p.Transaction, p.Final, p.Late})
		case "reasons":
			requireSums(t, e)
		case "checkpoint":
			require.Regexp(t, `^lethe\.log/[0-9a-f]{32}\n[0-9]+\n[A-Za-z0-9+/]{43}=\n\n— lethe\.log/`, e.text)
		case "headers":
			var headers map[string]string
			require.NoError(t, json.Unmarshal([]byte(e.text), &headers))
			for name, value := range headers {
				letter.Headers = append(letter.Headers, ingest.Header{Key: name, Value: []byte(value)})
			}
		case "value":
			letter.Key, letter.Value = []byte(e.key), []byte(strings.TrimSpace(e.text))
		}
	}
	read, err := ingest.ReadDeadLetter(letter)
	require.NoError(t, err)
	_, err = ingest.DecodeTransactions(read.Record, exampleLimits())
	require.Equal(t, &read.Refusal, err)
	require.Equal(t, read.Refusal.Reason.Disposition(), read.Disposition)
}

func requireSums(t *testing.T, e example) {
	t.Helper()
	var r struct {
		Components []struct {
			Logit, Base, Remainder float64
			Reasons                []struct{ Contribution float64 }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(e.text), &r))
	require.NotEmpty(t, r.Components)
	for _, c := range r.Components {
		sum := c.Base + c.Remainder
		for _, one := range c.Reasons {
			sum += one.Contribution
		}
		require.InDelta(t, c.Logit, sum, 1e-3, "line %d", e.line)
	}
}

// The table of reasons names each of them, and what can become of its record.
func TestTopicsPageNamesEveryReason(t *testing.T) {
	page, err := os.ReadFile(topicsPage)
	require.NoError(t, err)
	for _, reason := range ingest.Reasons() {
		row := "| `" + string(reason.Disposition()) + "` |"
		at := slices.IndexFunc(strings.Split(string(page), "\n"), func(line string) bool {
			return strings.HasPrefix(line, row) && strings.Contains(line, "`"+string(reason)+"`")
		})
		require.GreaterOrEqual(t, at, 0, "%s is not among the reasons that are %s", reason, reason.Disposition())
	}
}
