package api_test

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/deletions"
)

// The description allows no other fields, so one that it lacks makes an answer wrong.
func TestCountsAreDescribed(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("openapi.json")
	require.NoError(t, err)
	var described struct {
		Components struct {
			Schemas struct {
				Counts struct {
					Properties map[string]any `json:"properties"`
				} `json:"Counts"` //nolint:tagliatelle // as OpenAPI spells it
			} `json:"schemas"`
		} `json:"components"`
	}
	require.NoError(t, json.Unmarshal(raw, &described))
	for field := range reflect.TypeFor[deletions.Counts]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		require.Contains(t, described.Components.Schemas.Counts.Properties, name)
	}
}
