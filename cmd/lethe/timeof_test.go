package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

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
