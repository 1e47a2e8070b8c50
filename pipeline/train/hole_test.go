package train

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
)

// A slice changes and becomes again what it was, while models of others are read: the first of a model goes with the
// change, those behind it come once it is over. The first is read again then, though it was adopted before.
func TestAModelThatIsMissingBeforeOthersIsReadAgain(t *testing.T) {
	c := newCrew(t)
	plans := []plan{planOf(0, 3), planOf(1, 3), planOf(2, 3)}
	c.join("one", nil)
	two := c.join("two", nil)
	c.assign("one", 1, 0, 1)
	c.assign("two", 1)
	for _, p := range plans {
		publish(t, c.topics, p.messages(1)...)
	}
	c.run("one", "two")
	require.Zero(t, two.steps())
	want := wanted(t, two.logic.o, plans...)
	require.Equal(t, want, payloads(t, c.topics))

	m := two.logic.models[1]
	require.NoError(t, m.remove([]lethe.Timestep{1}))
	c.run("two")
	require.Equal(t, []lethe.Timestep{1, 2, 3}, m.kept)
	for key, digest := range want {
		if key.Shard == 1 {
			value, err := m.value(key.Timestep)
			require.NoError(t, err)
			require.Equal(t, digest, canonical.DigestOf(value))
		}
	}
	require.Equal(t, want, payloads(t, c.topics))
}
