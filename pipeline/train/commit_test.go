package train

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest/bus"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

// commitments are those on control.v1, in order.
func commitments(t *testing.T, topics *roletest.Bus, secret lethe.Secret) (out []wire.Commitment) {
	t.Helper()
	for _, rec := range roletest.Records(t, topics, bus.Control) {
		c, found, err := wire.ParseCommitment(rec)
		require.NoError(t, err)
		if found {
			out = append(out, c)
		}
	}
	return out
}

// The digest of every model is said once, a restart says nothing again, and after a slice
// was replaced those are said that were trained again. The setup is the first that is said.
func TestEveryModelIsSaidForTheLogOnce(t *testing.T) {
	topics, dir := topics(), t.TempDir()
	p := planOf(0, 3)
	o := ofOneShard(dir, topics)
	stop := running(t, o)
	publish(t, topics, p.messages(1)...)
	await(t, topics, o, p)
	// They are said behind the models.
	heard := func(n int) {
		t.Helper()
		require.Eventually(t, func() bool { return len(commitments(t, topics, o.Secret)) >= n }, time.Minute,
			time.Millisecond)
		require.NoError(t, stop())
	}
	heard(4)

	said := func(p plan, from lethe.Timestep) (out []wire.Commitment) {
		made := wanted(t, o, p)
		for _, s := range p.slices {
			if s.Timestep >= from {
				key := wire.Key{Kind: wire.KindModel, Timestep: s.Timestep}
				out = append(out, wire.Commitment{Timestep: s.Timestep, Digest: made[key]})
			}
		}
		return out
	}
	check := func(want []wire.Commitment) {
		t.Helper()
		got := commitments(t, topics, o.Secret)
		require.True(t, got[0].Setup)
		for i, c := range got {
			require.Equal(t, c.Setup, c.Lineage.IsZero())
			got[i].Lineage = lethe.Digest{}
		}
		require.Equal(t, want, got[1:])
	}
	want := said(p, 1)
	check(want)

	o = ofOneShard(dir, topics)
	stop = running(t, o)
	await(t, topics, o, p)
	p.slices[1] = sliceOf(0, 2, 1, 1)
	replaced := p.messages(2)[1]
	publish(t, topics, replaced)
	await(t, topics, o, p)
	heard(6)
	check(append(want, said(p, 2)...))
}
