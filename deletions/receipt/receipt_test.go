package receipt_test

import (
	"crypto/ed25519"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/internal/memorykv"
	"lethe/deletions/receipt"
	"lethe/deletions/scan"
	"lethe/scoring"
)

func signingKey(first byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(append([]byte{first}, make([]byte, ed25519.SeedSize-1)...))
}

func public(key ed25519.PrivateKey) ed25519.PublicKey { return key.Public().(ed25519.PublicKey) }

func trust(keys ...ed25519.PrivateKey) (out receipt.Trust) {
	for _, key := range keys {
		out.Keys = append(out.Keys, public(key))
	}
	return out
}

func artefactRows(nodes, replaced int64) []receipt.ArtefactRow {
	rows := make([]receipt.ArtefactRow, 0, len(receipt.Artefacts()))
	for _, a := range receipt.Artefacts() {
		row := receipt.ArtefactRow{Artefact: a, Location: "data directory", Action: receipt.Rewritten, Found: 1}
		switch a {
		case receipt.Slices:
			row.Action, row.Found = receipt.Replaced, replaced
		case receipt.SuppressionEntries, receipt.LedgerEntries:
			row.Action, row.Found, row.Remaining = receipt.KeptKeyed, nodes, nodes
		case receipt.Backups:
			row.Action, row.Found = receipt.NoneHeld, 0
		default:
		}
		rows = append(rows, row)
	}
	rows[0], rows[5] = rows[5], rows[0] // NewReceipt puts them in order
	return rows
}

// verifiedReceipt goes the whole way through the ledger.
func verifiedReceipt(t testing.TB, scope lethe.Scope) receipt.Receipt {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ledger := deletions.NewLedger(memorykv.New(), func() time.Time { now = now.Add(time.Second); return now })
	e, err := deletions.NewEntry(lethe.Secret{1}, lethe.ErasureRequest{
		RequestID: "r-7", Targets: lethe.Transactions("transaction-1", "transaction-2"), Scope: scope,
	}, now)
	require.NoError(t, err)
	_, _, err = ledger.TakeAll([]deletions.Entry{e})
	require.NoError(t, err)
	for _, to := range []deletions.State{
		deletions.Accepted, deletions.Suppressed, deletions.Rewriting, deletions.Retraining,
		deletions.Swapped, deletions.Erased, deletions.Verified,
	} {
		moved, err := ledger.TransitionAll([]string{"r-7"}, to, func(_ int, e *deletions.Entry) {
			p := &e.Progress
			p.Timesteps = []lethe.Timestep{3}
			p.Slices = []deletions.SliceRef{{Timestep: 3, Shard: 1}, {Timestep: 3, Shard: 4}}
			p.Retrained = []lethe.ShardID{1, 4}
			p.Counts = deletions.Counts{Targets: 2, Timesteps: 1, Payments: 5, Labels: 1, Slices: 2, Shards: 2}
			p.EnsembleBefore, p.EnsembleAfter = lethe.Digest{1}, lethe.Digest{2}
			for i := range p.Outcomes {
				p.Outcomes[i].Outcome = deletions.OutcomeErased
			}
			p.Verification = &scan.Summary{Files: 12, Bytes: 34567, Records: 890}
		})
		require.NoError(t, err)
		e = moved[0]
	}
	return receipt.New(e, receipt.Facts{
		Deployment: lethe.DeploymentID{7}, KernelSet: "avx2+fma", SoftwareVersion: "v0.1.0", Artefacts: artefactRows(2, 2),
	})
}

func TestContradictionsAreNotSigned(t *testing.T) {
	declared := func(r *receipt.Receipt) *receipt.ArtefactRow {
		row := &r.Artefacts[len(r.Artefacts)-1]
		row.Action, row.Found, row.Remaining = receipt.KeptDeclared, 3, 3
		return row
	}
	for problem, change := range map[string]func(r *receipt.Receipt){
		"request_id":            func(r *receipt.Receipt) { r.RequestID = "a b" },
		"state is not verified": func(r *receipt.Receipt) { r.State = deletions.Swapped },
		"scope is not one":      func(r *receipt.Receipt) { r.Scope = "world" },
		"verified_at":           func(r *receipt.Receipt) { r.VerifiedAt = r.RequestedAt.Add(-time.Hour) },
		"deployment is missing": func(r *receipt.Receipt) { r.Deployment = lethe.DeploymentID{} },
		"checkpoints are not": func(r *receipt.Receipt) {
			r.Checkpoints.After = []lethe.Digest{{3}}
		},
		"checkpoints are not those": func(r *receipt.Receipt) {
			r.Checkpoints.Before = []lethe.Digest{{3}, {4}}
		},
		"ascending":               func(r *receipt.Receipt) { *r.Elapsed.Erased = 1 },
		"elapsed_ms.verified":     func(r *receipt.Receipt) { *r.Elapsed.Verified++ },
		"batch_size is":           func(r *receipt.Receipt) { r.BatchSize = -1 },
		"requested_at":            func(r *receipt.Receipt) { r.RequestedAt = time.Time{} },
		"kernel_set":              func(r *receipt.Receipt) { r.KernelSet = "" },
		"software_version":        func(r *receipt.Receipt) { r.SoftwareVersion = "" },
		"nodes is empty":          func(r *receipt.Receipt) { r.Targets = nil },
		"not ascending digests":   func(r *receipt.Receipt) { r.Targets[0] = r.Targets[1] },
		"timesteps does not name": func(r *receipt.Receipt) { r.Timesteps[0] = 4 },
		"slices_replaced are not": func(r *receipt.Receipt) { r.SlicesReplaced[0] = r.SlicesReplaced[1] },
		"shard 5 was retrained":   func(r *receipt.Receipt) { r.ShardsRetrained[1] = 5 },
		"groups_refitted names a group that component 0 has not": func(r *receipt.Receipt) {
			r.GroupsRefitted = []deletions.RefittedGroups{{Model: "trees", Groups: 2, Refitted: []int{2}}}
		},
		"3 groups of component 0 were refitted for 2 shards": func(r *receipt.Receipt) {
			r.GroupsRefitted = []deletions.RefittedGroups{{Model: "trees", Groups: 4, Refitted: []int{0, 1, 2}}}
		},
		"counts.slices is 9":           func(r *receipt.Receipt) { r.Counts.Slices = 9 },
		"counts.nodes is 1":            func(r *receipt.Receipt) { r.Counts.Targets = 1 },
		"a count is negative":          func(r *receipt.Receipt) { r.Counts.Labels = -1 },
		"scan has a negative":          func(r *receipt.Receipt) { r.Scan.Records = -1 },
		"the scan has 1 hits":          func(r *receipt.Receipt) { r.Scan.Hits = 1 },
		"backups is not accounted for": func(r *receipt.Receipt) { r.Artefacts = r.Artefacts[:11] },
		"row 0 is of an unknown class": func(r *receipt.Receipt) { r.Artefacts[0].Artefact = "attic" },
		"row 3 is out of order": func(r *receipt.Receipt) {
			r.Artefacts[3].Artefact = receipt.Stubs
			r.Artefacts[2].Artefact = receipt.Checkpoints
		},
		"row 0 has an unknown action":     func(r *receipt.Receipt) { r.Artefacts[0].Action = "prayed" },
		"row 0 has no location":           func(r *receipt.Receipt) { r.Artefacts[0].Location = "" },
		"1 remain after action rewritten": func(r *receipt.Receipt) { r.Artefacts[0].Remaining = 1 },
		"2 remain of 1 found":             func(r *receipt.Receipt) { r.Artefacts[0].Remaining = 2 },
		"found 2 where none was held":     func(r *receipt.Receipt) { r.Artefacts[11].Found = 2 },
		"where nobody looked": func(r *receipt.Receipt) {
			r.Artefacts[11].Action, r.Artefacts[11].Found = receipt.Declared, 2
		},
		"may_remain does not speak of every": func(r *receipt.Receipt) {
			r.Gone = []deletions.GoneFolder{{Role: "train", Earlier: 1}}
		},
		"may_remain does not speak of": func(r *receipt.Receipt) { declared(r) },
		"rows count 7 slices":          func(r *receipt.Receipt) { r.Artefacts[1].Found = 7 },
		"rows count 1 suppression":     func(r *receipt.Receipt) { r.Artefacts[8].Remaining = 1 },
		"may_remain does not begin":    func(r *receipt.Receipt) { r.MayRemain = r.MayRemain[1:] },
	} {
		r := verifiedReceipt(t, lethe.ScopeStubs)
		change(&r)
		_, err := receipt.Sign(r, signingKey(1))
		require.ErrorIs(t, err, receipt.ErrInconsistent, problem)
		require.ErrorContains(t, err, problem)
	}
	r := verifiedReceipt(t, lethe.ScopeStubs)
	declared(&r).Location = "backup b1"
	r.MayRemain = append(r.MayRemain, "Backup b1 expires on 2026-04-01; a restore from it applies the suppression list.")
	_, err := receipt.Sign(r, signingKey(1))
	require.NoError(t, err, "what is declared may remain")
}

// Whoever has a receipt computes the versions of both ensembles from their checkpoints.
func TestCheckpointsGiveTheVersions(t *testing.T) {
	r := verifiedReceipt(t, lethe.ScopeStubs)
	r.Checkpoints = deletions.CheckpointDigests{Before: []lethe.Digest{{3}, {4}}, After: []lethe.Digest{{3}, {5}}}
	r.EnsembleBefore = scoring.EnsembleVersion(r.Checkpoints.Before)
	r.EnsembleAfter = scoring.EnsembleVersion(r.Checkpoints.After)
	require.Empty(t, problems(t, signed(t, r, signingKey(1)), trust(signingKey(1))))
	r.Checkpoints.After[0], r.Checkpoints.After[1] = r.Checkpoints.After[1], r.Checkpoints.After[0]
	require.Equal(t, []string{"checkpoints are not those of the ensembles"}, r.Problems())
}

// An erasure may come before the first ensemble is served, though not take one
// away.
func TestAnErasureBeforeTheFirstEnsembleHasAReceipt(t *testing.T) {
	r := verifiedReceipt(t, lethe.ScopeStubs)
	require.NotEmpty(t, r.ShardsRetrained)
	r.EnsembleBefore = lethe.Digest{}
	_, err := receipt.Sign(r, signingKey(1))
	require.NoError(t, err)
	r.EnsembleAfter = lethe.Digest{}
	_, err = receipt.Sign(r, signingKey(1))
	require.NoError(t, err)
}

func TestScopesSayWhatRemains(t *testing.T) {
	seen := map[string]bool{}
	for _, scope := range []lethe.Scope{lethe.ScopeShard, lethe.ScopeStubs, lethe.ScopePartition} {
		require.NotContains(t, strings.Join(receipt.MayRemain(scope, true), "\n"), "was computed with the erased records")
		text := strings.Join(receipt.MayRemain(scope, false), "\n")
		require.False(t, seen[text], scope)
		seen[text] = true
		require.Contains(t, text, "Predictions of other transactions")
		require.Contains(t, text, "keyed hashes")
		require.Equal(t, scope == lethe.ScopeShard, strings.Contains(text, "keep the stubs"))
		require.Equal(t, scope != lethe.ScopePartition,
			strings.Contains(text, "computed with the erased records and is kept"))
	}
}

func ExampleKeyID() {
	fmt.Println(receipt.KeyID(public(signingKey(1))))
	// Output: ztbkwUTj3EykAmV-cJTL2mji0UARaMUmW7XIbMNOrro
}
