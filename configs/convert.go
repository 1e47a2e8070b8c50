package configs

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"lethe/scoring"
)

// convert converts a value from YAML, the environment or a flag to the type of the field. Text is
// parsed according to the type. The second result describes valid values if the value is invalid,
// and is empty otherwise.
//
// It is stricter than that of package yaml, which reads 1.5 as the integer 1.
func convert(value any, typ reflect.Type) (any, string) {
	if d, ok := value.(time.Duration); ok && typ == reflect.TypeFor[time.Duration]() {
		return d, ""
	}
	switch kind := typ.Kind(); {
	case typ == reflect.TypeFor[time.Duration]():
		d, err := time.ParseDuration(asText(value))
		return d, wantIf(err != nil, "a duration such as 5s or 1m30s")
	case typ == reflect.TypeFor[[]string]():
		return toList(value)
	case typ == reflect.TypeFor[scoring.ThresholdRule]():
		return scoring.ThresholdRule(asText(value)), ""
	case kind == reflect.String:
		text, ok := value.(string)
		return text, wantIf(!ok, "text (put it in quotes)")
	case kind == reflect.Bool:
		b, err := strconv.ParseBool(asText(value))
		return b, wantIf(err != nil, "true or false")
	case kind == reflect.Int || kind == reflect.Int64:
		i, err := strconv.Atoi(wholeText(value))
		return i, wantIf(err != nil, "a whole number")
	case kind == reflect.Uint64:
		u, err := strconv.ParseUint(wholeText(value), 10, 64)
		return u, wantIf(err != nil, fmt.Sprintf("a whole number of 0 to %d", uint64(math.MaxUint64)))
	case kind == reflect.Float64:
		f, err := strconv.ParseFloat(asText(value), 64)
		return f, wantIf(err != nil, "a number")
	default:
		panic("configs: a field has a type that convert does not know")
	}
}

func wantIf(wrong bool, want string) string {
	if wrong {
		return want
	}
	return ""
}

// asText returns the text of a scalar; for any other value it returns text that never parses.
func asText(value any) string {
	switch v := value.(type) {
	case string:
		return strings.TrimSpace(v)
	case bool, int, int64, uint64, float64, uint, int32, uint32, float32:
		return fmt.Sprint(v)
	default:
		return ""
	}
}

// wholeText also accepts a float without a fraction, which is how YAML parses 1e6. Beyond 2^53 a
// float may have lost digits.
func wholeText(value any) string {
	if f, ok := value.(float64); ok && f == math.Trunc(f) && math.Abs(f) <= 1<<53 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return asText(value)
}

// toList accepts a list of texts, or one text with commas between them.
func toList(value any) (any, string) {
	const want = "a list of texts, or one text with commas"
	switch v := value.(type) {
	case []string:
		return v, ""
	case string:
		return splitList(v), ""
	case []any:
		items := make([]string, 0, len(v))
		for _, item := range v {
			text, ok := item.(string)
			if fields, isMap := item.(map[string]any); isMap {
				text, ok = componentText(fields)
			}
			if !ok {
				return nil, want
			}
			items = append(items, text)
		}
		return items, ""
	default:
		return nil, want
	}
}

// componentText writes {model: M, groups: N, key: value} as M:N:key=value, the format of
// ensemble.ParseComponent.
func componentText(fields map[string]any) (string, bool) {
	model, ok := fields["model"].(string)
	if !ok {
		return "", false
	}
	if groups, given := fields["groups"]; given {
		model += ":" + wholeText(groups)
	} else if len(fields) > 1 {
		return "", false
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if key != "model" && key != "groups" {
			model += ":" + key + "=" + asText(fields[key])
		}
	}
	return model, true
}

func splitList(text string) []string {
	items := []string{}
	if strings.TrimSpace(text) == "" {
		return items
	}
	for item := range strings.SplitSeq(text, ",") {
		items = append(items, strings.TrimSpace(item))
	}
	return items
}
