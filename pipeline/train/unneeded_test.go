package train

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Who published a model, and was to say that no score waits for it any more, is killed before: who has its unit
// next says it, though it has never had the model.
func TestWhatTheOneBeforeHadToWithdraw(t *testing.T) {
	before, c := newCrew(t), newCrew(t)
	plans := []plan{planOf(0, 4), planOf(1, 4), planOf(2, 4)}
	o := mixed(t, t.TempDir(), c.topics)
	kinds := func(own *Options) { own.Layout, own.Meta = o.Layout, o.Meta }
	before.join("one", kinds)
	before.assign("one", 1, 0, 1)
	say(t, before.topics, 1)
	c.join("one", kinds)
	two := c.join("two", kinds)
	say(t, c.topics, 3)
	for _, p := range plans {
		publish(t, before.topics, p.messages(1)...)
		publish(t, c.topics, p.messages(1)...)
	}
	before.run("one")
	c.run("two") // it knows what is needed before it hears of a model
	published, _ := models(t, before.topics)
	publish(t, c.topics, slices.Collect(maps.Values(published))...)
	c.run("two")
	require.Equal(t, whole(t, o, 1, plans...), payloadsAsWritten(t, c.topics), "it is nobody's to say")
	c.assign("two", 2, 0, 1)
	c.run("two")
	require.Equal(t, whole(t, o, 3, plans...), payloadsAsWritten(t, c.topics))
	require.Zero(t, two.steps())
	out, err := two.logic.publish()
	require.NoError(t, err)
	require.Empty(t, out.Messages)
}
