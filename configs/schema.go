package configs

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"lethe/internal/check"
	"lethe/scoring"
)

// durationPattern matches the input of time.ParseDuration, except signs.
const durationPattern = `^(0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$`

// componentsKey is the list whose items may be mappings.
const componentsKey = "trainer.components"

// Schema is the JSON Schema (draft 2020-12) of a configuration file: every key with its type,
// description and default. Editors complete and check files with it. Bounds that depend on other
// settings are checked only by Validate.
func Schema() map[string]any {
	root := section()
	root["$schema"], root["title"] = "https://json-schema.org/draft/2020-12/schema", "lethe configuration"
	defaults, sections := Default(), map[string]map[string]any{"": root}
	for _, s := range Settings() {
		within, name := sections[""], s.Key
		for path := ""; strings.Contains(name, "."); {
			first, rest, _ := strings.Cut(name, ".")
			if path = strings.TrimPrefix(path+"."+first, "."); sections[path] == nil {
				sections[path] = section()
				properties(within)[first] = sections[path]
			}
			within, name = sections[path], rest
		}
		described := schemaOf(s)
		described["description"], described["default"] = s.Help, plain(s.in(&defaults).Interface())
		properties(within)[name] = described
	}
	return root
}

// section is the schema of a mapping without keys.
func section() map[string]any {
	return map[string]any{"type": "object", "additionalProperties": false, "properties": map[string]any{}}
}

func properties(section map[string]any) map[string]any { return section["properties"].(map[string]any) }

// schemaOf is the schema of the values that convert accepts.
func schemaOf(s Setting) map[string]any {
	t := s.typ
	switch kind := t.Kind(); {
	case t == reflect.TypeFor[time.Duration]():
		return map[string]any{"type": "string", "pattern": durationPattern}
	case t == reflect.TypeFor[scoring.ThresholdRule]():
		return map[string]any{"type": []string{"string", "number"}}
	case t == reflect.TypeFor[[]string]():
		text := map[string]any{"type": "string"}
		item := text
		if s.Key == componentsKey {
			item = map[string]any{"anyOf": []any{text, map[string]any{
				"type": "object", "required": []string{"model"},
				"properties": map[string]any{"model": text, "groups": map[string]any{"type": "integer", "minimum": 1}},
			}}}
		}
		// A text with commas is accepted as a list, too.
		return map[string]any{"anyOf": []any{map[string]any{"type": "array", "items": item}, text}}
	case kind == reflect.String:
		return map[string]any{"type": "string"}
	case kind == reflect.Bool:
		return map[string]any{"type": "boolean"}
	case kind == reflect.Uint64:
		return map[string]any{"type": "integer", "minimum": 0}
	case kind == reflect.Int || kind == reflect.Int64:
		return map[string]any{"type": "integer"}
	case kind == reflect.Float64:
		return map[string]any{"type": "number"}
	default:
		panic(fmt.Sprintf("configs: %s has no schema", t))
	}
}

// plain returns a value in its form in a file.
func plain(value any) any {
	switch v := value.(type) {
	case time.Duration:
		return check.Duration(v)
	case []string:
		return append([]string{}, v...)
	default:
		return v
	}
}
