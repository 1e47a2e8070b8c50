package attack

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/deletions"
	"lethe/trainer"
)

// The shadow and the controls are only worth something if the replica is what
// it stands for: after every erasure it has to have the published models and
// slices, byte for byte.
func TestReplicaEqualsTheDeployment(t *testing.T) {
	if testing.Short() {
		t.Skip("runs two deployments; left out of the short run")
	}
	for _, scope := range []lethe.Scope{lethe.ScopeStubs, lethe.ScopeShard, lethe.ScopePartition} {
		t.Run(string(scope), func(t *testing.T) {
			t.Parallel()
			sc := newScenario(smallStream(t, 3), 20, 2, lethe.NewDraw(1, "targets"))
			c := smallConfig(t)
			secret, err := drawSecret(c)
			require.NoError(t, err)
			sent := without(sc.stream, sc.outside)
			var asked []lethe.ErasureRequest
			for i, name := range []string{"first", "second"} {
				asked = append(asked, lethe.ErasureRequest{RequestID: name, Targets: lethe.Transactions(sc.members[i]...),
					Scope: scope})
			}
			seen, err := expose(t.Context(), Defaults(sent, c), c, sent, asked)
			require.NoError(t, err)
			require.Len(t, seen.versions, 3)

			copied, err := newReplica(t.Context(), c, secret, sent)
			require.NoError(t, err)
			for i, p := range seen.versions {
				trained, err := copied.train(t.Context())
				require.NoError(t, err)
				for shard, m := range trained.Models {
					require.Equal(t, trainer.EncodeCheckpoint(m), trainer.EncodeCheckpoint(p.models[shard]), "version %d shard %d", i,
						shard)
				}
				published := make(map[lethe.Digest]bool)
				for _, s := range p.slices {
					published[canonical.DigestOf(canonical.EncodeSlice(s))] = true
				}
				for _, step := range copied.slices {
					for _, s := range step {
						require.True(t, published[canonical.DigestOf(canonical.EncodeSlice(s))], "version %d timestep %d shard %d", i,
							s.Timestep, s.Shard)
					}
				}
				if i < len(asked) {
					copied, err = copied.erase(t.Context(), scope, sc.members[i])
					require.NoError(t, err)
				}
			}
		})
	}
}

func TestRunEndToEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("runs two deployments and trains the controls; left out of the short run")
	}
	t.Parallel()
	o := Defaults(smallStream(t, 6), smallConfig(t))
	o.Targets, o.Requests, o.Seed, o.OverfitPasses, o.Version = 40, 2, 1, 150, "test"
	said := 0
	o.Progress = func(string, ...any) { said++ }
	r, err := Run(t.Context(), o)
	require.NoError(t, err)
	require.Greater(t, said, 10, "the attack is silent")

	require.Len(t, r.Erasures, 4)
	for _, e := range r.Erasures {
		require.Equal(t, deletions.Verified, e.State)
		require.Equal(t, 20, e.Nodes)
	}
	findings := make(map[lethe.Scope]map[string]Finding)
	for _, f := range r.Findings {
		if findings[f.Scope] == nil {
			findings[f.Scope] = make(map[string]Finding)
		}
		findings[f.Scope][f.Attack] = f
	}
	for scope, attacks := range findings {
		for _, name := range []string{"loss-threshold", "shadow-logistic", "shadow-trees", "shadow-mlp"} {
			f := attacks[name]
			require.GreaterOrEqual(t, f.Control.AUC, .65, "%s at %s", name, scope)
			require.Greater(t, f.Control.Interval.Low, .5)
			require.Equal(t, NoSignal, f.Verdict, "%s at %s: %+v", name, scope, f.Result)
		}
		// Twenty members a request are too few for some attacks. Those must say so.
		for _, f := range attacks {
			power := f.Control.AUC >= .65 && f.Control.Interval.Low > .5
			require.Equal(t, power, f.Verdict != NoPower, "%s at %s: %+v", f.Attack, scope, f.Control)
		}
		for _, name := range []string{"logistic", "trees", "mlp"} {
			require.NotNil(t, attacks["chen-sorted-concat-"+name].DegradationCount)
		}
		require.NotNil(t, attacks["edge-distance"].NeverHeld)
	}
	require.Equal(t, NoSignal, findings[lethe.ScopeStubs]["degree-residue"].Verdict)
	require.Equal(t, .5, findings[lethe.ScopeStubs]["degree-residue"].Result.AUC)
	require.Positive(t, findings[lethe.ScopeShard]["degree-residue"].Result.CertainShare)
	require.False(t, r.LeaksAtStubs)
	written(t, r)
}

// written checks the files and the JSON.
func written(t *testing.T, r *Report) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, Write(dir, r))
	page, err := os.ReadFile(filepath.Join(dir, markdownFile))
	require.NoError(t, err)
	for _, f := range r.Findings {
		require.Contains(t, string(page), f.Attack)
	}
	require.FileExists(t, filepath.Join(dir, csvFile))
	figures, err := filepath.Glob(filepath.Join(dir, "roc-*.png"))
	require.NoError(t, err)
	require.Len(t, figures, 8, "four adversaries at two scopes")

	encoded, err := json.Marshal(r)
	require.NoError(t, err)
	var fields struct {
		Findings []map[string]any `json:"findings"`
	}
	require.NoError(t, json.Unmarshal(encoded, &fields))
	for _, name := range []string{"attack", "adversary", "scope", "control", "result", "verdict"} {
		require.Contains(t, fields.Findings[0], name)
	}
}
