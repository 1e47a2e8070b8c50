package ingest

import (
	"embed"
	"fmt"
)

//go:embed schemas/*.json
var schemas embed.FS

// Schema returns the JSON Schema (draft 2020-12) of the values of one of the
// topics transactions.v1, labels.v1 and erasures.v1, named without prefix.
// The schema tells what JSON Schema can tell: field names, kinds and bounds.
// Keys, duplicate fields and what is printable are checked by decoding only.
func Schema(topic string) ([]byte, error) {
	text, err := schemas.ReadFile("schemas/" + topic + ".json")
	if err != nil {
		return nil, fmt.Errorf("no schema for topic %q", topic)
	}
	return text, nil
}
