package ingest_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
)

// A record that stands in another one is opened, however it is enveloped.
func TestOpenedRecords(t *testing.T) {
	const record = `{"id":"order-7?~é","timestep":3,"subjects":["ann b"],"features":[1,2]}`
	encode := func(v any) string {
		out, err := json.Marshal(v)
		require.NoError(t, err)
		return string(out)
	}
	quoted, in64 := encode(record), base64.StdEncoding.EncodeToString([]byte(record))
	for name, part := range map[string]string{
		"CloudEvent":          fmt.Sprintf(`{"specversion":"1.0","id":"e-1","data_base64":"%s"}`, in64),
		"CloudEvent's object": fmt.Sprintf(`{"specversion":"1.0","id":"e-1","data":%s}`, record),
		"URL alphabet":        fmt.Sprintf(`{"x":["%s"]}`, base64.RawURLEncoding.EncodeToString([]byte(record))),
		"Connect":             fmt.Sprintf(`{"schema":{"type":"struct","fields":[]},"payload":%s}`, record),
		"Connect's string":    fmt.Sprintf(`{"schema":{"type":"string"},"payload":%s}`, quoted),
		"Connect's bytes":     fmt.Sprintf(`{"schema":{"type":"bytes"},"payload":"%s"}`, in64),
		"quoted":              quoted,
		"quoted twice":        encode(quoted),
		"base64":              in64,
		"quoted base64":       encode(in64),
		"base64 of base64":    base64.StdEncoding.EncodeToString([]byte(in64)),
		"change":              fmt.Sprintf(`{"op":"u","before":%s,"after":null}`, record),
	} {
		var texts []string
		for _, text := range ingest.Opened([]byte(part)) {
			texts = append(texts, string(text))
		}
		require.Contains(t, texts, record, name)
	}
	for _, part := range []string{
		record, `{"source":"b3JkZXItNw==","target":"b3JkZXItNw=="}`, `{"type":"transaction","id":"e30e30e30e30"}`,
		``, `{`, `"`, `{"a"`,
	} {
		require.Empty(t, ingest.Opened([]byte(part)), part)
	}
}
