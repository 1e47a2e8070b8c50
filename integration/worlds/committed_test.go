package worlds

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/deletions"
	ledgerdisk "lethe/deletions/disk"
	"lethe/deletions/translog"
)

// ledger reads the requests from a copy of the files.
func (d *deployment) ledger() ([]deletions.Entry, error) {
	files := d.disk.memory.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})
	ledger, store, err := ledgerdisk.OpenLedger(files, d.folders(ofGraphs, "/build")[d.group(ofGraphs).led()], d.clock.Now)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	return ledger.List()
}

// committed checks that no slice holds what the log commits to as gone for good, as an auditor
// would: what went with subjects, features, and stubs for erased transactions.
func (c *comparison) committed(got *state) {
	for _, e := range got.ledger {
		f := e.Progress.Found
		if e.State != deletions.Verified {
			continue
		}
		if f == nil {
			features := func(o deletions.TargetOutcome) bool { return o.Kind == lethe.FeaturesTarget }
			c.equal(e.RequestID+" names features, and commits to none",
				slices.ContainsFunc(e.Progress.Outcomes, features), false)
			continue
		}
		gone, salt := make(map[lethe.Digest]bool), deletions.FoundSalt(secret, e.Digest)
		for _, d := range f.All() {
			gone[d] = true
		}
		for _, d := range append(f.Pairs, f.PairStubs...) {
			delete(gone, d) // payments may have come since
		}
		for at, s := range got.slices {
			what := fmt.Sprintf("slice %d of %d, as %s has it gone", at.shard, at.timestep, e.RequestID)
			for i, p := range s.Nodes {
				c.equal(what+": a transaction", gone[deletions.Commitment(salt, p)], false)
				for k, v := range s.Row(i) {
					c.equal(what+": a feature", v != 0 && gone[deletions.FeatureCommitment(salt, p, k)], false)
				}
			}
			for _, stub := range s.Stubs {
				c.equal(what+": a stub", gone[deletions.StubCommitment(salt, s.Nodes[stub.Owner], stub.Lambda)], false)
			}
		}
	}
}

// logged reads which slices the log commits to.
func (d *deployment) logged(ctx context.Context) (map[place]lethe.Digest, error) {
	published, err := translog.ReadPublished(ctx, d.topics)
	if err != nil {
		return nil, err
	}
	out := make(map[place]lethe.Digest)
	for _, text := range published.Leaves {
		leaf, err := translog.Decode(text)
		if err != nil {
			return nil, err
		}
		if s, is := leaf.(translog.Slice); is {
			out[place{s.Timestep, s.Shard}] = s.Digest
		}
	}
	return out, nil
}

// logged checks that the log commits to every slice as it is.
func (c *comparison) logged(got *state) {
	for t, m := range got.manifests {
		for shard, digest := range m.Slices {
			c.equal(fmt.Sprintf("slice %d of %d in the log", shard, t), got.logged[place{t, lethe.ShardID(shard)}], digest)
		}
	}
}
