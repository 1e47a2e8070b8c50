package main

import (
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
)

func namesOf(t *testing.T, texts ...string) (names, error) {
	t.Helper()
	var c struct{ Node names }
	p, err := kong.New(&c)
	require.NoError(t, err)
	var args []string
	for _, text := range texts {
		args = append(args, "--node="+text)
	}
	_, err = p.Parse(args)
	return c.Node, err
}

func TestCommasAndSemicolonsSeparateNames(t *testing.T) {
	for text, want := range map[string]names{
		"a":              {"a"},
		"a,b; c":         {"a", "b", "c"},
		`"a,b";c`:        {"a,b", "c"},
		` ,;a,`:          {"a"},
		`"a; b"`:         {"a; b"},
		`say"x`:          {`say"x`},
		"Ann Lee, Bo Ek": {"Ann Lee", "Bo Ek"},
		// W141: a quote within an id joined the ids around it, and no id could be written that is in quotes itself.
		`a"b,c"d`:    {`a"b`, `c"d`},
		`"a"`:        {"a"},
		`"""a"""`:    {`"a"`},
		`"a"",b"`:    {`a",b`},
		` "a" ; "b"`: {"a", "b"},
		``:           nil,
		`""`:         nil,
	} {
		found, err := namesOf(t, text)
		require.NoError(t, err, text)
		require.Equal(t, append(names{}, want...), append(names{}, found...), text)
	}
	found, err := namesOf(t, "a", "b,c")
	require.NoError(t, err)
	require.Equal(t, names{"a", "b", "c"}, found)
	for _, text := range []string{`"secret`, `"secret"x`, `a,"secret`, `"secret,b">c`, `"""`} {
		_, err := namesOf(t, text)
		require.ErrorContains(t, err, "a double quote is not closed", text)
		require.NotContains(t, err.Error(), "secret")
	}
}

// A date is the whole day, as a person means it and as the console sends it (V38).
func TestTimeOf_Date_IsTheEndOfThatDay(t *testing.T) {
	now := time.Date(2026, 12, 24, 10, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"2026-12-24":                "2026-12-24T23:59:59Z",
		"2026-12-24T00:00:00+01:00": "2026-12-23T23:00:00Z",
		"36h":                       "2026-12-25T22:00:00Z",
	} {
		at, err := timeOf("--until", text, now)
		require.NoError(t, err, text)
		require.Equal(t, want, at.Format(time.RFC3339Nano), text)
	}
	for _, text := range []string{"24.12.2026", "2026-02-30", "tomorrow"} {
		_, err := timeOf("--until", text, now)
		require.ErrorContains(t, err, "want a date such as 2026-12-24 (the end of that day, UTC)", text)
	}
}
