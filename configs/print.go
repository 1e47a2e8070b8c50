package configs

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/goccy/go-yaml"
	reader "github.com/knadh/koanf/parsers/yaml"

	"lethe/internal/check"
)

// YAML writes the configuration as a file that Load reads back. With redact
// the names of the key files are hidden, so that the text can be passed on;
// the keys themselves are never in it.
func (c Config) YAML(redact bool) ([]byte, error) {
	if redact {
		c.SecretFile = hidden(c.SecretFile)
		c.SigningKeyFile = hidden(c.SigningKeyFile)
	}
	out, err := yaml.MarshalWithOptions(c,
		yaml.IndentSequence(true),
		yaml.CustomMarshaler(func(d time.Duration) ([]byte, error) { return []byte(check.Duration(d)), nil }),
		yaml.CustomMarshaler(quoted),
	)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	return out, nil
}

// quoted writes a text without quotes only if the parser that Load uses takes
// it for the same text. The library that writes has other rules, by which
// 1e3 needs none.
func quoted(text string) ([]byte, error) {
	read, err := reader.Parser().Unmarshal([]byte("text: " + text))
	if err == nil && len(read) == 1 && read["text"] == text {
		return []byte(text), nil
	}
	return json.Marshal(text)
}

func hidden(path string) string {
	if path == "" {
		return ""
	}
	return "[redacted]"
}
