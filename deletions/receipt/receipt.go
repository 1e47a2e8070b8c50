package receipt

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/scan"
)

// Receipt is what lethe states about a finished request. It names records by
// keyed hashes only.
type Receipt struct {
	// Deployment is whose receipt it is. It is never zero.
	Deployment lethe.DeploymentID `json:"deployment,omitzero"`
	RequestID  string             `json:"request_id"`
	// RequestDigest is that of the request's content (deletions.RequestDigest): who
	// holds the request can check that this is its receipt.
	RequestDigest lethe.Digest `json:"request_digest,omitzero"`
	// State is Verified. Other outcomes have a status, not a receipt.
	State       deletions.State `json:"state"`
	Scope       lethe.Scope     `json:"scope"`
	RequestedAt time.Time       `json:"requested_at"`
	VerifiedAt  time.Time       `json:"verified_at"`
	// Elapsed are the four times.
	Elapsed deletions.Elapsed `json:"elapsed_ms,omitzero"`
	// BatchSize is the number of requests that were carried out together with this one,
	// itself included. What else the receipt says is of this one alone.
	BatchSize int `json:"batch_size,omitempty"`
	// Targets are keyed hashes (lethe.Secret.Suppression), ascending.
	Targets []lethe.Digest `json:"nodes"`
	// Result follows from the outcomes: a verified request may have erased nothing.
	Result deletions.Result `json:"result,omitempty"`
	// Outcomes are in the order of the request, each with the target's keyed hash.
	Outcomes  []deletions.TargetOutcome `json:"outcomes,omitempty"`
	Timesteps []lethe.Timestep          `json:"timesteps"`
	// SlicesReplaced ascend by timestep, then by shard.
	SlicesReplaced  []deletions.SliceRef `json:"slices_replaced"`
	ShardsRetrained []lethe.ShardID      `json:"shards_retrained"`
	// Replaced has the digests of graphs, manifests and slices before and after. Those of
	// requests that were carried out together are of all of them.
	Replaced []deletions.Replacement `json:"replaced,omitempty"`
	// GroupsRefitted are the groups of every component whose models learnt from the
	// replaced slices, and the model above the components was learnt anew as well.
	GroupsRefitted []deletions.RefittedGroups `json:"groups_refitted,omitempty"`
	Counts         deletions.Counts           `json:"counts"`
	EnsembleBefore lethe.Digest               `json:"ensemble_before"`
	EnsembleAfter  lethe.Digest               `json:"ensemble_after"`
	// Checkpoints are those of both ensembles, by digest: whoever has the lists can compute the
	// versions.
	Checkpoints deletions.CheckpointDigests `json:"checkpoints,omitzero"`
	// Configuration is the digest of the settings that the roles shared when the ensemble was
	// swapped (wire.Configuration).
	Configuration lethe.Digest `json:"configuration_digest,omitzero"`
	// KernelSet names the CPU features that the retrained bytes depend on.
	KernelSet       string `json:"kernel_set"`
	SoftwareVersion string `json:"software_version"`
	// IndependentShards says that every transaction's shard follows from its own id alone
	// (partition.method independent).
	IndependentShards bool `json:"independent_shards,omitempty"`
	// Artefacts has at least one row for every class, in the order of Artefacts.
	Artefacts []ArtefactRow `json:"artefacts"`
	Scan      scan.Summary  `json:"scan"`
	// Searched is the scan by place.
	Searched []deletions.PlaceSearch `json:"searched,omitempty"`
	// NotSearched are the forms that say nothing about the records, such as a
	// feature row that another record shares.
	NotSearched []scan.Kind `json:"not_searched"`
	// Gone are folders that were not searched because an operator has declared them gone
	// for good.
	Gone []deletions.GoneFolder `json:"gone_folders,omitempty"`
	// HeldRequests waited for holds, and name something of the records in their own records in
	// erasures.v1, which were left alone.
	HeldRequests []deletions.HeldRequest `json:"held_requests,omitempty"`
	// SignedBy are the thumbprints of the keys that have signed the request, where the
	// deployment asks for that.
	SignedBy []string `json:"signed_by,omitempty"`
	// Backups may still hold the records: they were made before these were erased, and were
	// not to be destroyed yet when the receipt was issued.
	Backups []KeptBackup `json:"backups,omitempty"`
	// MayRemain begins with what MayRemain returns for the scope and the shards.
	MayRemain []string `json:"may_remain"`
}

// KeptBackup is a backup that may still hold what was erased.
type KeptBackup struct {
	ID        string    `json:"backup_id"`
	CreatedAt time.Time `json:"created_at"`
	// ExpiresAt is when it is to be destroyed at the latest.
	ExpiresAt time.Time `json:"expires_at"`
}

// Facts are what a receipt says in addition to the ledger's entry.
type Facts struct {
	Deployment      lethe.DeploymentID
	KernelSet       string
	SoftwareVersion string
	// IndependentShards says that shards follow from ids alone.
	IndependentShards bool
	// Artefacts in any order.
	Artefacts []ArtefactRow
	// Backups are those that may still hold the records.
	Backups []KeptBackup
	// MayRemain is what remains beyond the scope's own list, such as a backup
	// that expires later.
	MayRemain []string
}

// New fills a receipt from a verified entry. It does not check it: Sign
// does.
func New(e deletions.Entry, facts Facts) Receipt {
	r := Receipt{
		Deployment: facts.Deployment,
		RequestID:  e.RequestID, RequestDigest: e.Digest, State: e.State, Scope: e.Scope,
		RequestedAt: e.Received(), VerifiedAt: e.Updated(),
		Elapsed: e.Elapsed(), BatchSize: e.Batch.Size,
		Targets:         list(e.Targets),
		Result:          deletions.ResultOf(e.Progress.Outcomes),
		Outcomes:        slices.Clone(e.Progress.Outcomes),
		Timesteps:       list(e.Progress.Timesteps),
		SlicesReplaced:  list(e.Progress.Slices),
		ShardsRetrained: list(e.Progress.Retrained),
		Replaced:        slices.Clone(e.Progress.Replaced),
		GroupsRefitted:  slices.Clone(e.Progress.Refitted),
		Counts:          e.Progress.Counts,
		EnsembleBefore:  e.Progress.EnsembleBefore, EnsembleAfter: e.Progress.EnsembleAfter,
		Checkpoints:   e.Progress.Checkpoints,
		Configuration: e.Progress.Configuration,
		KernelSet:     facts.KernelSet, SoftwareVersion: facts.SoftwareVersion,
		IndependentShards: facts.IndependentShards,

		Artefacts:   list(facts.Artefacts),
		Searched:    slices.Clone(e.Progress.Searched),
		NotSearched: list(e.Progress.NotSearched),
		Gone:        slices.Clone(e.Progress.Gone),
		Backups:     slices.Clone(facts.Backups),
		MayRemain:   slices.Concat(MayRemain(e.Scope, facts.IndependentShards), facts.MayRemain),

		HeldRequests: slices.Clone(e.Progress.HeldRequests), SignedBy: slices.Clone(e.SignedBy),
	}
	if v := e.Progress.Verification; v != nil {
		r.Scan = *v
	}
	order := Artefacts()
	sort.SliceStable(r.Artefacts, func(i, j int) bool {
		return slices.Index(order, r.Artefacts[i].Artefact) < slices.Index(order, r.Artefacts[j].Artefact)
	})
	return r
}

// Finding says in a sentence what the erasure has found, and is the first line of every rendering.
func (r *Receipt) Finding() string {
	switch deletions.ResultOf(r.Outcomes) {
	case deletions.ResultErased:
		return "Every target was erased."
	case deletions.ResultAlreadyErased:
		return "Every target had been erased by another request."
	case deletions.ResultPartlyHeld:
		return fmt.Sprintf("Nothing was held of %d of %d targets. The others were erased.",
			deletions.NotHeld(r.Outcomes), len(r.Outcomes))
	case deletions.ResultNothingHeld:
		return "Nothing was held of any target: nothing was erased."
	default:
		return ""
	}
}

// list copies a list so that JSON shows an empty one as [] and not as null.
func list[T any](in []T) []T { return append(make([]T, 0, len(in)), in...) }
