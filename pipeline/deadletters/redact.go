package deadletters

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

const mostListed = 3

// Redacted returns a value's structure without its content: for JSON, the fields with kind and length of their
// values, else the length. "type" and "timestep" are not personal and kept; unknown fields are counted, since a name
// can be personal.
func Redacted(value []byte) string {
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	var parsed any
	if err := decoder.Decode(&parsed); err != nil || decoder.More() {
		return fmt.Sprintf("(%d bytes that are not JSON)", len(value))
	}
	text, err := json.MarshalIndent(form(parsed), "", "  ")
	if err != nil {
		return fmt.Sprintf("(%d bytes)", len(value))
	}
	return string(text)
}

func form(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out, others := make(map[string]any, len(v)), 0
		for name, item := range v {
			switch {
			case kept(name, item):
				out[name] = item
			case slices.Contains(knownFields(), name):
				out[name] = form(item)
			default:
				others++
			}
		}
		if others > 0 {
			out["(others)"] = others
		}
		return out
	case []any:
		out := make([]any, 0, mostListed+1)
		for i, item := range v {
			if i == mostListed {
				return append(out, "and "+strconv.Itoa(len(v)-mostListed)+" more")
			}
			out = append(out, form(item))
		}
		return out
	case string:
		return "(text of " + strconv.Itoa(len(v)) + " bytes)"
	case json.Number:
		return "(number of " + strconv.Itoa(len(v)) + " digits)"
	default:
		return v // true, false and null
	}
}

func knownFields() []string {
	return []string{"type", "timestep", "id", "features", "source", "target", "label", "subjects"}
}

// kept reports whether a field is shown.
func kept(name string, value any) bool {
	switch name {
	case "type":
		text, is := value.(string)
		return is && (text == "transaction" || text == "payment" || text == "label" || text == "close" || text == "settle")
	case "timestep":
		_, is := value.(json.Number)
		return is
	default:
		return false
	}
}
