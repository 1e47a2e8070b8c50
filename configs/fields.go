package configs

import (
	"reflect"
	"strings"
)

// field is one value of the configuration.
type field struct {
	key string
	typ reflect.Type
}

// fields lists every value in the order of the types.
func fields() []field { return fieldsOf(reflect.TypeFor[Config](), "") }

func fieldsOf(t reflect.Type, prefix string) []field {
	var found []field
	for i := range t.NumField() {
		f := t.Field(i)
		key := prefix + f.Tag.Get("koanf")
		if f.Type.Kind() == reflect.Struct {
			found = append(found, fieldsOf(f.Type, key+".")...)
			continue
		}
		found = append(found, field{key: key, typ: f.Type})
	}
	return found
}

// Keys lists the dotted key of every value, in the order in which they are
// documented.
func Keys() []string {
	all := fields()
	keys := make([]string, len(all))
	for i, f := range all {
		keys[i] = f.key
	}
	return keys
}

// EnvironmentName returns the environment variable that sets a key, such as
// LETHE_KAFKA_BROKERS for kafka.brokers.
func EnvironmentName(key string) string {
	return environmentPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}
