package receipt

import "slices"

// Artefact is a class of places where a record, or something computed from it,
// can be. A receipt accounts for every class; the usual defect of erasures is a
// second copy that nobody had on the list.
type Artefact string

// The classes, in the order in which receipts list them.
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

// Action is what was done about an artefact.
type Action string

// The actions.
const (
	// Rewritten: a new file without the record took the old one's place, and the
	// old one was unlinked.
	Rewritten Action = "rewritten"
	// Replaced: a new revision took the old one's place.
	Replaced Action = "replaced"
	// Recomputed: computed again from what never held the record.
	Recomputed Action = "recomputed"
	// Deleted: removed without a successor.
	Deleted Action = "deleted"
	// Tombstoned: marked for deletion in a topic and seen to be compacted away.
	Tombstoned Action = "tombstoned"
	// NoneHeld: looked at, and it held nothing of the record.
	NoneHeld Action = "none_held"
	// KeptKeyed: only keyed hashes are kept, and they are kept on purpose.
	KeptKeyed Action = "kept_keyed_hash"
	// KeptDeclared: something is kept that the receipt's may_remain speaks of.
	KeptDeclared Action = "kept_declared"
	// Declared: not looked at. The row says no more than that nothing is known of.
	Declared Action = "declared"
)

// Actions lists every action.
func Actions() []Action {
	return []Action{Rewritten, Replaced, Recomputed, Deleted, Tombstoned, NoneHeld, KeptKeyed, KeptDeclared, Declared}
}

// keeps reports whether something may remain after the action.
func (a Action) keeps() bool { return a == KeptKeyed || a == KeptDeclared }

// ArtefactRow accounts for one artefact at one place. Location is a topic, a
// directory or a description, never a name with an id in it.
type ArtefactRow struct {
	Artefact Artefact `json:"artefact"`
	Location string   `json:"location"`
	Action   Action   `json:"action"`
	// Found is how many items held something of the records, Remaining how many
	// still do.
	Found     int64 `json:"found"`
	Remaining int64 `json:"remaining"`
}

// missingArtefacts returns the classes that no row accounts for.
func missingArtefacts(rows []ArtefactRow) []Artefact {
	return slices.DeleteFunc(Artefacts(), func(a Artefact) bool {
		return slices.ContainsFunc(rows, func(r ArtefactRow) bool { return r.Artefact == a })
	})
}
