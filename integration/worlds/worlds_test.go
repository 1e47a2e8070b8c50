package worlds

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe/internal/leakcheck"
)

func TestMain(m *testing.M) {
	if err := setFlags(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	leakcheck.Main(m)
}

// setFlags says how many worlds of each kind there are, unless it was said: those of
// LETHE_WORLDS from a random seed on; of a seed that was given, that world; or else a
// handful, always the same.
func setFlags() error {
	flag.Parse()
	said := make(map[string]bool)
	flag.Visit(func(f *flag.Flag) { said[f.Name] = true })
	checks, seed := os.Getenv("LETHE_WORLDS"), ""
	switch {
	case said["rapid.checks"] || checks == "" && os.Getenv("RAPID_CHECKS") != "":
		return nil
	case checks == "" && said["rapid.seed"]:
		checks = "1"
	case checks == "":
		checks, seed = "10", "1"
	}
	err := flag.Set("rapid.checks", checks)
	if err == nil && seed != "" {
		err = flag.Set("rapid.seed", seed)
	}
	return err
}

// TestForgettingInRandomWorlds: whatever comes when, and wherever the process is
// killed, what is left equals the world that never saw the targets. Records come in
// the sequence of their timesteps, and none of these is emptied.
func TestForgettingInRandomWorlds(t *testing.T) {
	check(t, options{kills: true, least: 7, most: 9, requests: 2})
}

// TestForgettingInUnorderedWorlds has late records, timesteps that are emptied and scope
// shard as well.
func TestForgettingInUnorderedWorlds(t *testing.T) {
	check(t, options{late: true, kills: true, shardScope: true, least: 0, most: 7, requests: 3})
}

// TestForgettingInLooseWorlds: what is refused may depend on when timesteps
// were closed. Nothing is left of the targets all the same, nothing of others is lost,
// and what is served is what the graphs give.
func TestForgettingInLooseWorlds(t *testing.T) {
	check(t, options{late: true, loose: true, kills: true, shardScope: true, least: 0, most: 7, requests: 3})
}

// TestForgettingInSharedWorlds: as above, where two or three train together, come and go, and
// are told late what is theirs. What is left equals the world with a single one.
func TestForgettingInSharedWorlds(t *testing.T) {
	check(t, options{late: true, kills: true, shardScope: true, several: true, least: 0, most: 7, requests: 3})
}

// TestForgettingInPausedWorlds: as above, and now and then all do what there is to do, whoever trains
// then and whoever has not heard of it, or hung as it wrote, and publishes what it has lost.
func TestForgettingInPausedWorlds(t *testing.T) {
	check(t, options{
		late: true, kills: true, shardScope: true, several: true, pauses: true, least: 0, most: 7, requests: 3,
	})
}

// TestForgettingInLedWorlds: as above, where one of several processes leads graphs and erasures, or
// score, and others stand by: they are killed, hang, also before a write, come back and take over.
// What is left equals the world with one process of each.
func TestForgettingInLedWorlds(t *testing.T) {
	check(t, options{late: true, kills: true, shardScope: true, led: true, least: 0, most: 7, requests: 3})
}

func check(t *testing.T, k options) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWithCrashes(t, rt, k)
		got, left := played(t, rt, w)
		w = w.carriedOut(got)
		want := got
		if !w.loose {
			other := w.without(w.targets())
			// What told the width may be among the targets: it was told for good.
			other.config.FeatureCount = got.status.FeatureCount
			want, _ = played(t, rt, other)
		}
		faults := compare(t.Context(), w, got, want)
		for _, place := range left {
			faults = append(faults, "left: "+place)
		}
		if len(faults) > 0 {
			rt.Fatalf("%s\nrequests: %v\n%s", strings.Join(faults, "\n"), got.states, w)
		}
	})
}

// TestAWorldRepeats: what a process writes, and so where it is killed, is told by the
// seed alone.
func TestAWorldRepeats(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWithCrashes(t, rt, options{
			late: true, kills: true, shardScope: true, several: true, least: 0, most: 7, requests: 3,
		})
		var traces [2][]string
		for i := range traces {
			d, err := newDeployment(t).play(t.Context(), w)
			require.NoError(rt, err)
			require.NoError(rt, d.stop())
			traces[i] = d.disk.trace
		}
		for i, write := range traces[0][:min(len(traces[0]), len(traces[1]))] {
			if write != traces[1][i] {
				t.Errorf("write %d of %+v: %q, then %q", i, w.crashes, traces[0][max(0, i-3):i+2], traces[1][max(0, i-3):i+2])
				rt.FailNow()
			}
		}
		require.Len(rt, traces[1], len(traces[0]))
	})
}

// drawWithCrashes draws a world whose processes are killed at writes that they come to.
func drawWithCrashes(t *testing.T, rt *rapid.T, k options) world {
	drawn := drawWorld(rt, k)
	w, err := drawn.withCrashes(t.Context(), t)
	if err != nil {
		rt.Fatalf("%v\n%s", err, w)
	}
	return w
}

// played plays a world to its end and reads what is left, and what a search for the
// targets finds.
func played(t *testing.T, rt *rapid.T, w world) (*state, []string) {
	d, err := newDeployment(t).play(t.Context(), w)
	if err != nil {
		rt.Fatalf("%v\n%s", err, w)
	}
	s, err := d.read(t.Context())
	if err != nil {
		rt.Fatalf("%v\n%s", err, w)
	}
	left, err := d.search(t.Context(), wantedOf(w.carriedOut(s)))
	if err != nil {
		rt.Fatalf("%v\n%s", err, w)
	}
	if err := d.stop(); err != nil {
		rt.Fatalf("%v\n%s", err, w)
	}
	return s, left
}
