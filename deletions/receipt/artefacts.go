package receipt

import "slices"

// Artefact is a class of places that can hold a record or what was computed from it. A receipt accounts for every
// class: erasures usually fail by a second copy that nobody listed.
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

// Action is what was done with an artefact.
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
