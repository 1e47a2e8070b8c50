package check_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/internal/check"
)

func TestEveryBoundNamesKeyValueAndBound(t *testing.T) {
	var p check.Problems
	p.Whole("whole", 4, 1, 3)
	p.AtLeast("least", -1, 0)
	p.Number("number", math.NaN(), 0, 1)
	p.Above("above", 0, 0, 1)
	p.Below("below", 1, 0, 1)
	p.Duration("duration", 90*time.Minute, time.Second, time.Hour)
	p.OneOf("one", "c", "a", "b")
	p.Each("each", "letter", []string{"a", "a", "c"}, "a", "b")
	p.HostPort("server", "a:0")
	p.HostPort("server", ":1")
	p.ListenAddress("listen", "a")
	p.That(false, "that", true, "false while %s is off", "other")
	require.Equal(t, `whole is 4, want 1 to 3
least is -1, want at least 0
number is NaN, want 0 to 1
above is 0, want more than 0, at most 1
below is 1, want 0 or more, less than 1
duration is "1h30m", want 1s to 1h
one is "c", want one of a, b
each is "a", want every letter once
each is "c", want one of a, b
server is "a:0", want host:port
server is ":1", want host:port with a host
listen is "a", want host:port
that is true, want false while other is off`, p.Err().Error())
}

func TestBoundsAreInside(t *testing.T) {
	var p check.Problems
	p.Whole("whole", 1, 1, 3)
	p.Whole("whole", 3, 1, 3)
	p.AtLeast("least", 0, 0)
	p.Number("number", 1, 0, 1)
	p.Above("above", 1, 0, 1)
	p.Below("below", 0, 0, 1)
	p.Duration("duration", time.Second, time.Second, time.Hour)
	p.Each("each", "letter", []string{"a", "b"}, "a", "b")
	p.HostPort("server", "[::1]:9092")
	p.ListenAddress("listen", ":0")
	require.NoError(t, p.Err())
}

func TestSectionsOriginsAndOrder(t *testing.T) {
	var inner, p check.Problems
	inner.Whole("port", 70000, 0, 65535)
	p.OneOf("log", "x", "text")
	p.Within("embedded", fmt.Errorf("wrapped: %w", inner.Err()))
	p.Within("embedded", inner.Err())
	p.Within("kafka", nil)
	require.True(t, p.Has("embedded.port"))
	require.False(t, p.Has("port"))
	p = p.Sorted([]string{"embedded.port", "log"})
	p[1].Origin = "file a.yaml"
	require.EqualError(t, p.Err(), "embedded.port is 70000, want 0 to 65535\n"+
		"log is \"x\", want one of text (from file a.yaml)")
	require.Panics(t, func() { p.Within("other", errors.New("not of a validation")) })
}
