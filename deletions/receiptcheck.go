package deletions

import (
	"cmp"
	"fmt"
	"slices"

	"lethe"
)

// Problems returns every inconsistency of the receipt with itself; none means
// that its numbers agree, that every artefact class is accounted for and that
// what remains is declared. It cannot tell whether the statements are true.
func (r *Receipt) Problems() []string {
	var out problemList
	out.check(ValidRequestID(r.RequestID), "request_id is not valid")
	out.check(r.State == Verified, "state is not %s", Verified)
	out.check(validScope(r.Scope), "scope is none of shard, stubs, partition")
	out.check(!r.RequestedAt.IsZero() && r.RequestedAt.Equal(canonicalTime(r.RequestedAt)), "requested_at is not a time in milliseconds")
	out.check(!r.VerifiedAt.Before(r.RequestedAt), "verified_at is before requested_at")
	out.check(r.KernelSet != "", "kernel_set is empty")
	out.check(r.SoftwareVersion != "", "software_version is empty")
	out.check(len(r.Nodes) > 0, "nodes is empty")
	out.check(ascending(r.Nodes, compareDigests) && !slices.Contains(r.Nodes, lethe.Digest{}), "nodes are not ascending digests")
	r.checkReach(&out)
	r.checkCounts(&out)
	r.checkArtefacts(&out)
	residue := MayRemain(r.Scope)
	out.check(len(r.MayRemain) >= len(residue) && slices.Equal(r.MayRemain[:min(len(r.MayRemain), len(residue))], residue),
		"may_remain does not begin with what scope %s leaves", r.Scope)
	return out
}

type problemList []string

func (p *problemList) check(ok bool, format string, args ...any) {
	if !ok {
		*p = append(*p, fmt.Sprintf(format, args...))
	}
}

func (r *Receipt) checkReach(out *problemList) {
	out.check(ascending(r.Timesteps, cmp.Compare), "timesteps are not ascending")
	out.check(ascending(r.SlicesReplaced, compareSlices), "slices_replaced are not ascending")
	out.check(ascending(r.ShardsRetrained, cmp.Compare), "shards_retrained are not ascending")
	shards := make([]lethe.ShardID, 0, len(r.SlicesReplaced))
	for _, s := range r.SlicesReplaced {
		out.check(slices.Contains(r.Timesteps, s.Timestep), "a slice of timestep %d was replaced, which timesteps does not name", s.Timestep)
		shards = append(shards, s.Shard)
	}
	for _, s := range r.ShardsRetrained {
		out.check(slices.Contains(shards, s), "shard %d was retrained without a replaced slice", s)
	}
	if len(r.ShardsRetrained) > 0 {
		// Before the first ensemble is served there is none to name.
		out.check(r.EnsembleBefore.IsZero() || !r.EnsembleAfter.IsZero(), "shards were retrained, but an ensemble is not named")
	}
}

func (r *Receipt) checkCounts(out *problemList) {
	for _, c := range []struct {
		name        string
		count, want int
	}{
		{"nodes", r.Counts.Nodes, len(r.Nodes)},
		{"timesteps", r.Counts.Timesteps, len(r.Timesteps)},
		{"slices", r.Counts.Slices, len(r.SlicesReplaced)},
		{"shards", r.Counts.Shards, len(r.ShardsRetrained)},
	} {
		out.check(c.count == c.want, "counts.%s is %d, the list has %d", c.name, c.count, c.want)
	}
	c := r.Counts
	out.check(min(c.Payments, c.Labels, c.Stubs, c.SourceRecords, c.DeadLetters, c.Predictions) >= 0, "a count is negative")
	out.check(min(r.Scan.Files, r.Scan.NotRead) >= 0 && min(r.Scan.Bytes, r.Scan.Records) >= 0, "scan has a negative number")
	out.check(r.Scan.Hits == 0, "the scan has %d hits, a verified request has none", r.Scan.Hits)
}

func (r *Receipt) checkArtefacts(out *problemList) {
	for _, a := range missingArtefacts(r.Artefacts) {
		out.check(false, "artefact %s is not accounted for", a)
	}
	order := Artefacts()
	last := 0
	var replaced, suppressed int64
	for i, row := range r.Artefacts {
		at := slices.Index(order, row.Artefact)
		out.check(at >= 0, "artefact row %d is of an unknown class", i)
		out.check(at >= last, "artefact row %d is out of order", i)
		last = max(last, at)
		out.check(slices.Contains(Actions(), row.Action), "artefact row %d has an unknown action", i)
		out.check(row.Location != "", "artefact row %d has no location", i)
		out.check(row.Found >= 0 && row.Remaining >= 0 && row.Remaining <= row.Found,
			"artefact row %d: %d remain of %d found", i, row.Remaining, row.Found)
		out.check(row.Remaining == 0 || row.Action.keeps(), "artefact row %d: %d remain after action %s", i, row.Remaining, row.Action)
		out.check(row.Action != NoneHeld || row.Found == 0, "artefact row %d found %d where none was held", i, row.Found)
		if row.Action == KeptDeclared && row.Remaining > 0 {
			out.check(len(r.MayRemain) > len(MayRemain(r.Scope)) || row.Artefact == Stubs && r.Scope == lethe.ScopeShard,
				"artefact row %d keeps what may_remain does not speak of", i)
		}
		switch row.Artefact {
		case Slices:
			replaced += row.Found
		case SuppressionEntries:
			suppressed += row.Remaining
		default:
		}
	}
	out.check(replaced == int64(len(r.SlicesReplaced)), "artefact rows count %d slices, slices_replaced has %d", replaced, len(r.SlicesReplaced))
	out.check(suppressed == int64(len(r.Nodes)), "artefact rows count %d suppression entries for %d nodes", suppressed, len(r.Nodes))
}

func compareSlices(a, b SliceRef) int {
	return cmp.Or(cmp.Compare(a.Timestep, b.Timestep), cmp.Compare(a.Shard, b.Shard))
}
