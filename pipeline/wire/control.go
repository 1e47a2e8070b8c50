package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"lethe/ingest"
)

// kind is a kind of control record: a JSON object with a format, under keys with a prefix.
type kind struct{ prefix, format, what string }

var errKey = errors.New("not the content of its key")

// record returns a control record. The value must have the format of the kind.
func (k kind) record(name string, value any) (ingest.Outgoing, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return ingest.Outgoing{}, fmt.Errorf("%s %s: %w", k.what, name, err)
	}
	return ingest.Outgoing{Key: []byte(k.prefix + name), Value: text}, nil
}

// parse decodes a control record of a kind. check gets the value and its key without the prefix. A record of another
// kind and a tombstone are not found.
func parse[T any](k kind, rec ingest.Record, check func(value *T, name string) error) (value T, found bool, err error) {
	name, is := strings.CutPrefix(string(rec.Key), k.prefix)
	if !is || rec.Tombstone() {
		return value, false, nil
	}
	var head struct {
		Format string `json:"format"`
	}
	if err = proven(rec); err == nil {
		err = errors.Join(json.Unmarshal(rec.Value, &head), json.Unmarshal(rec.Value, &value))
	}
	if err == nil && head.Format != k.format {
		err = fmt.Errorf("format %.40q, want %q", head.Format, k.format)
	}
	if err == nil {
		err = check(&value, name)
	}
	if err != nil {
		var none T
		return none, false, fmt.Errorf("%s/%d@%d: %s: %w", rec.Topic, rec.Partition, rec.Offset, k.what, err)
	}
	return value, true, nil
}
