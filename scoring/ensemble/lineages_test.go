package ensemble_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/canonical"
	"lethe/scoring/ensemble"
	"lethe/trainer"
)

// The lineages from digests, in whatever order they come, are replaced, forgotten
// and asked for, are those of a chain that is computed from scratch.
func TestLineagesAreThoseOfTheChain(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		o := trainer.Defaults()
		o.Schedule = rapid.SampledFrom([]string{trainer.Continual, trainer.Window}).Draw(rt, "schedule")
		o.WindowTimesteps = rapid.IntRange(1, 3).Draw(rt, "window")
		l := ensemble.NewLineages(ensemble.PerShard(o, 1), nil)
		const last = 6
		digests := make(map[lethe.Timestep]lethe.Digest)
		for range rapid.IntRange(1, 20).Draw(rt, "steps") {
			at := lethe.Timestep(rapid.IntRange(0, last).Draw(rt, "t"))
			switch rapid.IntRange(0, 5).Draw(rt, "action") {
			case 0, 1, 2:
				digests[at] = canonical.DigestOf([]byte{byte(at), rapid.Byte().Draw(rt, "content")})
				l.Learn(at, at-1, []lethe.Digest{digests[at]})
			case 3:
				delete(digests, at)
				l.Forget(at)
			}
			asked := lethe.Timestep(rapid.IntRange(-1, last).Draw(rt, "asked"))
			got, known := l.At(asked)
			want, complete := chain(o, digests, asked)
			require.Equal(rt, complete, known)
			if known {
				require.Equal(rt, []lethe.Digest{want}, got)
			}
		}
	})
}

// chain computes the lineage after a timestep as training does.
func chain(o trainer.Config, digests map[lethe.Timestep]lethe.Digest, through lethe.Timestep) (lethe.Digest, bool) {
	var lineage lethe.Digest
	var window []lethe.Digest
	for at := lethe.Timestep(0); at <= through; at++ {
		d, known := digests[at]
		if !known {
			return lethe.Digest{}, false
		}
		if window = append(window, d); len(window) > o.WindowTimesteps {
			window = window[1:]
		}
		lineage = o.LineageOf(lineage, window)
	}
	return lineage, true
}
