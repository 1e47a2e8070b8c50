package configs

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"lethe/internal/check"
)

// YAML writes the configuration as a file that Load reads back. With redact it hides the names of the files of
// keys, passwords and tokens, and the parts of addresses that may be secret, so that the text can be shared; the
// keys themselves are never in it.
func (c Config) YAML(redact bool) ([]byte, error) {
	root := &yaml.Node{Kind: yaml.MappingNode}
	sections := map[string]*yaml.Node{"": root}
	for _, s := range Settings() {
		content := s.in(&c).Interface()
		if d, isDuration := content.(time.Duration); isDuration {
			content = check.Duration(d)
		}
		if redact {
			content = redacted(s.Key, content)
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

// put inserts a value under a dotted key, and creates missing sections above it.
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

const hidden = "[redacted]"

// redacted returns a setting without its secret parts.
func redacted(key string, value any) any {
	switch value := value.(type) {
	case string:
		return redactedText(key, value)
	case []string:
		out := make([]string, len(value))
		for i, text := range value {
			out[i] = redactedText(key, text)
		}
		return out
	default:
		return value
	}
}

// redactedText hides the names of secret files, and the user, the query and the fragment of an address; for
// webhooks also the path, which often is the secret.
func redactedText(key, text string) string {
	for _, end := range []string{"secret_file", "key_file", "password_file", "token_file", "tokens_file"} {
		if text != "" && strings.HasSuffix(key, end) {
			return hidden
		}
	}
	if !strings.Contains(text, "://") {
		return text
	}
	at, err := url.Parse(text)
	if err != nil {
		return hidden
	}
	shown := at.Scheme + "://"
	if at.User != nil {
		shown += hidden + "@"
	}
	shown += at.Host
	if key == "webhooks.url" && strings.Trim(at.Path, "/") != "" {
		return shown + "/" + hidden
	}
	shown += at.EscapedPath()
	if at.RawQuery != "" || at.Fragment != "" {
		shown += "?" + hidden
	}
	return shown
}
