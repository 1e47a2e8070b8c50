package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommasAndSemicolonsSeparateNames(t *testing.T) {
	for text, want := range map[string][]string{
		"a":              {"a"},
		"a,b; c":         {"a", "b", "c"},
		`"a,b";c`:        {"a,b", "c"},
		` ,;a,`:          {"a"},
		`"a; b"`:         {"a; b"},
		`say"x`:          {`say"x`},
		"Ann Lee, Bo Ek": {"Ann Lee", "Bo Ek"},
	} {
		names := []string{text}
		separated(&names)
		require.Equal(t, want, names, text)
	}
}
