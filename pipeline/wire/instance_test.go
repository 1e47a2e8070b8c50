package wire_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/pipeline/wire"
)

// Who plays a role says which directories it has replaced, also after a start that
// replaces none, and says of itself that it is there.
func TestReplacedDirectoriesAreRemembered(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	plays := func(identity string) wire.Instance { return wire.Instance{Role: "train", Identity: identity} }
	first := plays("a")
	second := plays("b").After(first, at)
	require.Equal(t, []wire.Replaced{{Identity: "a", At: at}}, second.Replaced)
	again := plays("b").After(second, at.Add(time.Hour))
	require.Equal(t, second.Replaced, again.Replaced)
	require.Equal(t, second.Replaced, again.After(second, at.Add(time.Hour)).Replaced, "each once")
	back := plays("a").After(again, at.Add(2*time.Hour))
	require.Equal(t, []wire.Replaced{{Identity: "b", At: at.Add(2 * time.Hour)}}, back.Replaced)

	last := first
	for i := range 100 {
		last = plays(fmt.Sprintf("c%d", i)).After(last, at)
	}
	require.Len(t, last.Replaced, 32)
	require.Equal(t, 100-32, last.Earlier)
	require.Equal(t, "c98", last.Replaced[31].Identity)
	record, err := last.Record()
	require.NoError(t, err)
	read, found, err := wire.ParseInstance(recordOf(record))
	require.NoError(t, err)
	require.True(t, found)
	last.Format = read.Format
	require.Equal(t, last, read)
}
