package configs

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

const environmentPrefix = "LETHE_"

// value is one configured value.
type value struct {
	key     string
	content any
	origin  string
}

// fileValues reads a YAML file. A key without a value keeps its default, as if it were absent.
func fileValues(path string) ([]value, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the file that --config names cannot be read: %w", err)
	}
	var tree map[string]any
	if err := yaml.Unmarshal(content, &tree); err != nil {
		return nil, fmt.Errorf("file %s: %w", path, err)
	}
	return flatten(tree, "", "file "+path, nil), nil
}

func flatten(tree map[string]any, prefix, origin string, found []value) []value {
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		key := prefix + name
		if strings.Contains(name, ".") {
			// Dotted names are not accepted as paths, so that a value has one place in a file.
			found = append(found, value{strconv.Quote(key), nil, origin})
			continue
		}
		switch content := tree[name].(type) {
		case nil:
			if !knownPrefix(key) {
				found = append(found, value{key, nil, origin})
			}
		case map[string]any:
			found = flatten(content, key+".", origin, found)
		default:
			found = append(found, value{key, content, origin})
		}
	}
	return found
}

// knownPrefix reports whether the name is a key or a section.
func knownPrefix(name string) bool {
	return slices.ContainsFunc(Keys(), func(key string) bool {
		return key == name || strings.HasPrefix(key, name+".")
	})
}

// environmentValues selects lethe's environment variables. A variable that resembles none of the
// keys is reported as a key with its own name, so that a misspelled one is not silently ignored.
func environmentValues(environ []string) []value {
	keys := map[string]string{}
	for _, key := range Keys() {
		keys[EnvironmentName(key)] = key
	}
	var found []value
	for _, entry := range slices.Sorted(slices.Values(environ)) {
		name, text, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, environmentPrefix) {
			continue
		}
		key, known := keys[name]
		switch {
		case !known && foreign(name):
			continue
		case !known:
			key = name
		}
		found = append(found, value{key, text, "environment " + name})
	}
	return found
}

// foreign reports whether a variable begins with our prefix but does not belong to the
// configuration: those of the tests, and those that Kubernetes sets for a service named lethe.
func foreign(name string) bool {
	rest := strings.TrimPrefix(name, environmentPrefix)
	return rest == "GOLDEN" || rest == "DATA" || rest == "KAFKA_HOME" || rest == "PORT" ||
		strings.HasPrefix(rest, "PORT_") || strings.HasPrefix(rest, "SERVICE_")
}

func overrideValues(overrides map[string]any) []value {
	found := make([]value, 0, len(overrides))
	for _, key := range slices.Sorted(maps.Keys(overrides)) {
		found = append(found, value{key, overrides[key], "command line"})
	}
	return found
}
