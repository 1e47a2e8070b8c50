package configs

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"lethe/internal/check"
)

// YAML writes the configuration as a file that Load reads back. With redact
// the names of the key files are hidden, so that the text can be passed on;
// the keys themselves are never in it.
func (c Config) YAML(redact bool) ([]byte, error) {
	if redact {
		c.SecretFile = hidden(c.SecretFile)
		c.SigningKeyFile = hidden(c.SigningKeyFile)
		c.Kafka.TLS.KeyFile = hidden(c.Kafka.TLS.KeyFile)
		c.Kafka.SASL.PasswordFile = hidden(c.Kafka.SASL.PasswordFile)
		c.Kafka.SASL.TokenFile = hidden(c.Kafka.SASL.TokenFile)
	}
	root := &yaml.Node{Kind: yaml.MappingNode}
	sections := map[string]*yaml.Node{"": root}
	for _, s := range Settings() {
		content := s.in(&c).Interface()
		if d, isDuration := content.(time.Duration); isDuration {
			content = check.Duration(d)
		}
		value := new(yaml.Node)
		if err := value.Encode(content); err != nil {
			return nil, fmt.Errorf("configuration: %s: %w", s.Key, err)
		}
		put(sections, s.Key, value)
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(root); err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	return out.Bytes(), nil
}

// put enters a value under a dotted key, and the sections above it if they are not
// there yet.
func put(sections map[string]*yaml.Node, key string, value *yaml.Node) {
	section, name := "", key
	if dot := strings.LastIndexByte(key, '.'); dot >= 0 {
		section, name = key[:dot], key[dot+1:]
	}
	if sections[section] == nil {
		sections[section] = &yaml.Node{Kind: yaml.MappingNode}
		put(sections, section, sections[section])
	}
	sections[section].Content = append(sections[section].Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, value)
}

func hidden(path string) string {
	if path == "" {
		return ""
	}
	return "[redacted]"
}
