package receipt

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/internal/record"
	"lethe/deletions/scan"
)

// Problems returns the receipt's contradictions: numbers that disagree, classes unaccounted for, remains undeclared.
// It cannot tell whether the statements are true.
func (r *Receipt) Problems() []string {
	var out record.Problems
	out.Check(deletions.ValidRequestID(r.RequestID), "request_id is not valid")
	out.Check(r.State == deletions.Verified, "state is not %s", deletions.Verified)
	out.Check(r.Scope.Valid(), "scope is not one of shard, stubs, partition")
	out.Check(!r.RequestedAt.IsZero() && r.RequestedAt.Equal(record.Time(r.RequestedAt)),
		"requested_at is not a time in milliseconds")
	out.Check(!r.VerifiedAt.Before(r.RequestedAt), "verified_at is before requested_at")
	r.checkElapsed(&out)
	out.Check(r.BatchSize >= 0, "batch_size is negative")
	out.Check(r.KernelSet != "", "kernel_set is empty")
	out.Check(r.SoftwareVersion != "", "software_version is empty")
	out.Check(len(r.Targets) > 0, "nodes is empty")
	out.Check(record.Ascending(r.Targets, record.CompareDigests) && !slices.Contains(r.Targets, lethe.Digest{}),
		"nodes are not ascending digests")
	r.checkOutcomes(&out)
	r.checkReach(&out)
	r.checkReplaced(&out)
	out.Check(r.Checkpoints.Fits(r.EnsembleBefore, r.EnsembleAfter), "checkpoints are not those of the ensembles")
	r.checkCounts(&out)
	r.checkArtefacts(&out)
	for _, declared := range []struct {
		of        string
		sentences []string
	}{
		{"every one of gone_folders", GoneFolders(r.Gone)},
		{"every one of backups", InBackups(r.Backups)},
		{"client_names", InClientNames(r.Searched)},
		{"every one of held_requests", InHeldRequests(r.HeldRequests)},
		{"every one of unreadable_batches", InUnreadable(r.Searched)},
		{"spellings", InSpellings(r.NotSearched)},
	} {
		for _, sentence := range declared.sentences {
			out.Check(slices.Contains(r.MayRemain, sentence), "may_remain does not speak of %s", declared.of)
		}
	}
	for _, p := range r.Searched {
		out.Check(!slices.ContainsFunc(p.Unreadable, func(u deletions.UnreadableBatch) bool { return !u.Valid() }),
			"an unreadable batch in %s is not valid", p.Place)
	}
	for _, h := range r.HeldRequests {
		valid := deletions.ValidRequestID(h.RequestID) && h.RequestID != r.RequestID && h.Records > 0
		out.Check(valid, "a held request is not valid")
	}
	for _, b := range r.Backups {
		out.Check(b.CreatedAt.Before(r.VerifiedAt) && b.ExpiresAt.After(r.VerifiedAt), "a backup was not kept then")
	}
	residue := MayRemain(r.Scope, r.IndependentShards)
	out.Check(len(r.MayRemain) >= len(residue) && slices.Equal(r.MayRemain[:min(len(r.MayRemain), len(residue))], residue),
		"may_remain does not begin with what scope %s leaves", r.Scope)
	out.Check(!r.Deployment.IsZero(), "deployment is missing")
	return out
}

func (r *Receipt) checkOutcomes(out *record.Problems) {
	out.Check(!r.RequestDigest.IsZero(), "request_digest is missing")
	out.Check(r.Result == "" || r.Result == deletions.ResultOf(r.Outcomes), "result is not that of the outcomes")
	answered := make(map[lethe.Digest]bool)
	for i, o := range r.Outcomes {
		out.Check(o.Outcome.Valid(), "outcome %d is not known", i)
		out.Check(o.ValidKind(), "outcome %d is of no known kind of target", i)
		out.Check(slices.Contains(r.Targets, o.Target), "outcome %d is of no node", i)
		answered[o.Target] = true
	}
	out.Check(len(answered) == len(r.Targets), "a node has no outcome")
}

func (r *Receipt) checkElapsed(out *record.Problems) {
	out.Check(r.Elapsed.Ascending(), "elapsed_ms is not ascending")
	if ms := r.Elapsed.Verified; ms != nil {
		out.Check(*ms == r.VerifiedAt.Sub(r.RequestedAt).Milliseconds(), "elapsed_ms.verified is not the time between "+
			"requested_at and verified_at")
	}
}

func (r *Receipt) checkReach(out *record.Problems) {
	out.Check(record.Ascending(r.Timesteps, cmp.Compare), "timesteps are not ascending")
	out.Check(record.Ascending(r.SlicesReplaced, deletions.SliceRef.Compare), "slices_replaced are not ascending")
	out.Check(record.Ascending(r.ShardsRetrained, cmp.Compare), "shards_retrained are not ascending")
	shards := make([]lethe.ShardID, 0, len(r.SlicesReplaced))
	for _, s := range r.SlicesReplaced {
		out.Check(slices.Contains(r.Timesteps, s.Timestep),
			"a slice of timestep %d was replaced, which timesteps does not name", s.Timestep)
		shards = append(shards, s.Shard)
	}
	for _, s := range r.ShardsRetrained {
		out.Check(slices.Contains(shards, s), "shard %d was retrained without a replaced slice", s)
	}
	for i, c := range r.GroupsRefitted {
		out.Check(c.Valid(), "groups_refitted names a group that component %d has not", i)
		out.Check(len(c.Refitted) > 0 && len(c.Refitted) <= len(r.ShardsRetrained),
			"%d groups of component %d were refitted for %d shards", len(c.Refitted), i, len(r.ShardsRetrained))
	}
}

// checkReplaced checks that the digests, if any, are of everything replaced.
func (r *Receipt) checkReplaced(out *record.Problems) {
	if len(r.Replaced) == 0 {
		return
	}
	var timesteps []lethe.Timestep
	var replaced []deletions.SliceRef
	for _, at := range r.Replaced {
		timesteps = append(timesteps, at.Timestep)
		for _, s := range at.Slices {
			replaced = append(replaced, deletions.SliceRef{Timestep: at.Timestep, Shard: s.Shard})
		}
	}
	out.Check(slices.Equal(timesteps, r.Timesteps), "replaced is not of the timesteps")
	out.Check(slices.Equal(replaced, r.SlicesReplaced), "replaced is not of slices_replaced")
}

func (r *Receipt) checkCounts(out *record.Problems) {
	for _, c := range []struct {
		name        string
		count, want int
	}{
		{"nodes", r.Counts.Targets, len(r.Targets)},
		{"timesteps", r.Counts.Timesteps, len(r.Timesteps)},
		{"slices", r.Counts.Slices, len(r.SlicesReplaced)},
		{"shards", r.Counts.Shards, len(r.ShardsRetrained)},
	} {
		out.Check(c.count == c.want, "counts.%s is %d, the list has %d", c.name, c.count, c.want)
	}
	c := r.Counts
	out.Check(min(c.Payments, c.Labels, c.Stubs, c.SourceRecords, c.OfOthers, c.DeadLetters, c.Predictions,
		c.Reasons) >= 0, "a count is negative")
	out.Check(min(r.Scan.Files, r.Scan.NotRead) >= 0 && min(r.Scan.Bytes, r.Scan.Records) >= 0,
		"scan has a negative number")
	var searched scan.Summary
	for _, p := range r.Searched {
		searched = searched.Add(p.Summary)
		out.Check(p.Hits+p.Superseded == 0, "%d hits and %d superseded records remain in %s", p.Hits, p.Superseded, p.Place)
	}
	out.Check(len(r.Searched) == 0 || searched == r.Scan, "searched does not add up to scan")
	out.Check(r.Scan.Hits == 0, "the scan has %d hits, a verified request has none", r.Scan.Hits)
}

func (r *Receipt) checkArtefacts(out *record.Problems) {
	for _, a := range missingArtefacts(r.Artefacts) {
		out.Check(false, "artefact %s is not accounted for", a)
	}
	order := Artefacts()
	last := 0
	var replaced, suppressed int64
	for i, row := range r.Artefacts {
		at := slices.Index(order, row.Artefact)
		out.Check(at >= 0, "artefact row %d is of an unknown class", i)
		out.Check(at >= last, "artefact row %d is out of order", i)
		last = max(last, at)
		out.Check(slices.Contains(Actions(), row.Action), "artefact row %d has an unknown action", i)
		out.Check(row.Location != "", "artefact row %d has no location", i)
		out.Check(row.Found >= 0 && row.Remaining >= 0 && row.Remaining <= row.Found,
			"artefact row %d: %d remain of %d found", i, row.Remaining, row.Found)
		out.Check(row.Remaining == 0 || row.Action.keeps(), "artefact row %d: %d remain after action %s", i, row.Remaining,
			row.Action)
		out.Check(row.Action != Declared || row.Found+row.Remaining == 0,
			"artefact row %d counts something where nobody looked", i)
		out.Check(row.Action != NoneHeld || row.Found == 0, "artefact row %d found %d where none was held", i, row.Found)
		if row.Action == KeptDeclared && row.Remaining > 0 {
			declared := len(r.MayRemain) > len(MayRemain(r.Scope, r.IndependentShards))
			out.Check(declared || row.Artefact == Stubs && r.Scope == lethe.ScopeShard,
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
	out.Check(replaced == int64(len(r.SlicesReplaced)), "artefact rows count %d slices, slices_replaced has %d", replaced,
		len(r.SlicesReplaced))
	out.Check(suppressed == int64(len(r.Targets)), "artefact rows count %d suppression entries for %d nodes", suppressed,
		len(r.Targets))
}

// Differences names the members that differ from the ledger's entry, apart from those the entry lacks, such as the
// artefacts.
func (r *Receipt) Differences(e deletions.Entry) ([]string, error) {
	own := MayRemain(e.Scope, r.IndependentShards)
	want := New(e, Facts{
		Deployment: r.Deployment, KernelSet: r.KernelSet, SoftwareVersion: r.SoftwareVersion, Artefacts: r.Artefacts,
		IndependentShards: r.IndependentShards, Backups: r.Backups,
		MayRemain: r.MayRemain[min(len(own), len(r.MayRemain)):],
	})
	declared, err := members(r)
	if err != nil {
		return nil, err
	}
	known, err := members(want)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(declared, func(name string, value json.RawMessage) bool {
		same := bytes.Equal(known[name], value)
		if same {
			delete(known, name)
		}
		return same
	})
	maps.Copy(declared, known)
	return slices.Sorted(maps.Keys(declared)), nil
}

// Genuine reports whether data is the receipt of a request: signed with key, or, as an earlier key may have signed
// it, equal to the ledger's entry, which may be nil.
func Genuine(data []byte, requestID string, key ed25519.PublicKey, e *deletions.Entry) bool {
	r, v, err := Verify(data, Pinned(key))
	if err != nil || r.RequestID != requestID {
		return false
	}
	if v.Valid || e == nil {
		return v.Valid
	}
	differ, err := r.Differences(*e)
	return err == nil && len(differ) == 0
}

func members(v any) (out map[string]json.RawMessage, err error) {
	data, err := record.Encode(v)
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		return nil, fmt.Errorf("receipt: %w", err)
	}
	return out, nil
}
