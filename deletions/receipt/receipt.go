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

// Receipt is the statement about a verified request. It names records by keyed hashes only.
type Receipt struct {
	Deployment lethe.DeploymentID `json:"deployment,omitzero"`
	RequestID  string             `json:"request_id"`
	// RequestDigest is deletions.RequestDigest of the request.
	RequestDigest lethe.Digest `json:"request_digest,omitzero"`
	// State is Verified; other states have no receipt.
	State       deletions.State   `json:"state"`
	Scope       lethe.Scope       `json:"scope"`
	RequestedAt time.Time         `json:"requested_at"`
	VerifiedAt  time.Time         `json:"verified_at"`
	Elapsed     deletions.Elapsed `json:"elapsed_ms,omitzero"`
	// BatchSize is the number of requests of the batch. Everything else is of this request alone.
	BatchSize int `json:"batch_size,omitempty"`
	// Targets are keyed hashes (lethe.Secret.Suppression), ascending.
	Targets []lethe.Digest `json:"nodes"`
	// Result follows from the outcomes: nothing may have been erased.
	Result deletions.Result `json:"result,omitempty"`
	// Outcomes are in request order.
	Outcomes  []deletions.TargetOutcome `json:"outcomes,omitempty"`
	Timesteps []lethe.Timestep          `json:"timesteps"`
	// SlicesReplaced ascend by timestep, then by shard.
	SlicesReplaced  []deletions.SliceRef `json:"slices_replaced"`
	ShardsRetrained []lethe.ShardID      `json:"shards_retrained"`
	// Replaced has the digests before and after; those after are of the whole batch.
	Replaced []deletions.Replacement `json:"replaced,omitempty"`
	// GroupsRefitted are the groups that learnt from the replaced slices. The meta-model was retrained too.
	GroupsRefitted []deletions.RefittedGroups `json:"groups_refitted,omitempty"`
	Counts         deletions.Counts           `json:"counts"`
	EnsembleBefore lethe.Digest               `json:"ensemble_before"`
	EnsembleAfter  lethe.Digest               `json:"ensemble_after"`
	// Checkpoints are the digests from which the ensemble versions follow.
	Checkpoints deletions.CheckpointDigests `json:"checkpoints,omitzero"`
	// Configuration is the digest of the shared settings at the swap (wire.Configuration).
	Configuration lethe.Digest `json:"configuration_digest,omitzero"`
	// KernelSet names the CPU features that the retrained bytes depend on.
	KernelSet       string `json:"kernel_set"`
	SoftwareVersion string `json:"software_version"`
	// IndependentShards means that a transaction's shard follows from its id alone.
	IndependentShards bool `json:"independent_shards,omitempty"`
	// Artefacts has a row or more for every class, in order.
	Artefacts []ArtefactRow `json:"artefacts"`
	Scan      scan.Summary  `json:"scan"`
	// Searched is Scan by place.
	Searched []deletions.PlaceSearch `json:"searched,omitempty"`
	// NotSearched are forms that would not identify the records.
	NotSearched []scan.Kind `json:"not_searched"`
	// Gone are folders declared gone, and not searched.
	Gone []deletions.GoneFolder `json:"gone_folders,omitempty"`
	// HeldRequests have own records in erasures.v1 that name something erased, and were left alone.
	HeldRequests []deletions.HeldRequest `json:"held_requests,omitempty"`
	// SignedBy are the thumbprints of the signing keys, where required.
	SignedBy []string `json:"signed_by,omitempty"`
	// Backups were made before the erasure and not yet to be destroyed.
	Backups []KeptBackup `json:"backups,omitempty"`
	// MayRemain begins with MayRemain of the scope.
	MayRemain []string `json:"may_remain"`
}

// KeptBackup is a backup that may hold erased data.
type KeptBackup struct {
	ID        string    `json:"backup_id"`
	CreatedAt time.Time `json:"created_at"`
	// ExpiresAt is when it is to be destroyed.
	ExpiresAt time.Time `json:"expires_at"`
}

// Facts complete the ledger's entry.
type Facts struct {
	Deployment        lethe.DeploymentID
	KernelSet         string
	SoftwareVersion   string
	IndependentShards bool
	// Artefacts may be in any order.
	Artefacts []ArtefactRow
	Backups   []KeptBackup
	// MayRemain are remains beyond the scope's list.
	MayRemain []string
}

// New makes a receipt of a verified entry. Sign checks it.
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

// Finding is the result in a sentence, the first line of every rendering.
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

// list copies a list, so that JSON has [] and not null for an empty one.
func list[T any](in []T) []T { return append(make([]T, 0, len(in)), in...) }

// Artefact is a class of places that can hold a record or data computed from it. A receipt accounts for every class:
// erasures usually fail by a second copy that was not listed.
type Artefact string

// The classes, in the order of receipts.
const (
	SnapshotRows       Artefact = "snapshot_rows"
	Slices             Artefact = "slices"
	Stubs              Artefact = "stubs"
	Checkpoints        Artefact = "checkpoints"
	OptimiserState     Artefact = "optimiser_state"
	AggregationVectors Artefact = "aggregation_vectors"
	Predictions        Artefact = "predictions"
	DeadLetters        Artefact = "dead_letters"
	SuppressionEntries Artefact = "suppression_entries"
	LedgerEntries      Artefact = "ledger_entries"
	KafkaTopics        Artefact = "kafka_topics"
	Backups            Artefact = "backups"
)

// Artefacts lists every class in order.
func Artefacts() []Artefact {
	return []Artefact{
		SnapshotRows, Slices, Stubs, Checkpoints, OptimiserState, AggregationVectors,
		Predictions, DeadLetters, SuppressionEntries, LedgerEntries, KafkaTopics, Backups,
	}
}

// Action is the treatment of an artefact.
type Action string

// The actions.
const (
	// Rewritten: a new file without the record replaced the old one.
	Rewritten Action = "rewritten"
	// Replaced: a new revision replaced the old one.
	Replaced Action = "replaced"
	// Recomputed: recomputed from data that never held the record.
	Recomputed Action = "recomputed"
	// Deleted: removed without a successor.
	Deleted Action = "deleted"
	// Tombstoned: tombstoned in a topic, and seen to be compacted.
	Tombstoned Action = "tombstoned"
	// NoneHeld: searched, and held nothing.
	NoneHeld Action = "none_held"
	// KeptKeyed: keyed hashes are kept on purpose.
	KeptKeyed Action = "kept_keyed_hash"
	// KeptDeclared: something is kept that may_remain declares.
	KeptDeclared Action = "kept_declared"
	// Declared: not searched; nothing is known of it.
	Declared Action = "declared"
)

// Actions lists every action.
func Actions() []Action {
	return []Action{Rewritten, Replaced, Recomputed, Deleted, Tombstoned, NoneHeld, KeptKeyed, KeptDeclared, Declared}
}

// keeps reports whether something may remain after the action.
func (a Action) keeps() bool { return a == KeptKeyed || a == KeptDeclared }

// ArtefactRow accounts for an artefact at a place: a topic, a directory or a description without ids.
type ArtefactRow struct {
	Artefact Artefact `json:"artefact"`
	Location string   `json:"location"`
	Action   Action   `json:"action"`
	// Found counts items of the records, Remaining those left.
	Found     int64 `json:"found"`
	Remaining int64 `json:"remaining"`
}

func missingArtefacts(rows []ArtefactRow) []Artefact {
	return slices.DeleteFunc(Artefacts(), func(a Artefact) bool {
		return slices.ContainsFunc(rows, func(r ArtefactRow) bool { return r.Artefact == a })
	})
}
