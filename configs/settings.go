package configs

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Setting is one value of the configuration, as defined by the tags of its field.
type Setting struct {
	// Key is dotted, as in kafka.brokers.
	Key string
	// Help is one line, for flags and documentation.
	Help string

	typ reflect.Type
	// index is the path to the field, see reflect.Value.FieldByIndex.
	index []int
}

// Settings lists every value in the order of the types, which is also the order of `lethe config
// print`.
func Settings() []Setting { return settingsOf(reflect.TypeFor[Config](), "", nil) }

// settingsOf lists the settings of a section. Fields with the name - are not settings; those of an
// inlined type belong to the section itself.
func settingsOf(t reflect.Type, prefix string, index []int) []Setting {
	var found []Setting
	for i := range t.NumField() {
		f := t.Field(i)
		at := slices.Concat(index, []int{i})
		name, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case name == "-":
		case option == "inline":
			found = append(found, settingsOf(f.Type, prefix, at)...)
		case f.Type.Kind() == reflect.Struct:
			found = append(found, settingsOf(f.Type, prefix+name+".", at)...)
		default:
			found = append(found, Setting{Key: prefix + name, Help: f.Tag.Get("help"), typ: f.Type, index: at})
		}
	}
	return found
}

// in returns the setting's field of a configuration.
func (s Setting) in(c *Config) reflect.Value { return reflect.ValueOf(c).Elem().FieldByIndex(s.index) }

// Values returns every value as text, by its key.
func (c Config) Values() map[string]string {
	out := make(map[string]string)
	for _, s := range Settings() {
		out[s.Key] = fmt.Sprint(s.in(&c).Interface())
	}
	return out
}

// Keys lists the dotted key of every value, in the order in which they are
// documented.
func Keys() []string {
	all := Settings()
	keys := make([]string, len(all))
	for i, s := range all {
		keys[i] = s.Key
	}
	return keys
}

// EnvironmentName returns the environment variable that sets a key, such as
// LETHE_KAFKA_BROKERS for kafka.brokers.
func EnvironmentName(key string) string {
	return environmentPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}
