package worlds

import (
	"fmt"
	"strings"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/residue"
)

// What is drawn only once lethe is right about it: one name in two forms of Unicode; one key in two partitions; and
// what an aborted transaction wrote in a backup that is put back, of a target of which the backup's graphs hold
// nothing, so that nothing asks for it again.
const (
	unicodeForms     = false
	twoPartitioners  = false
	abortedInBackups = false
)

// spelling draws what the id of the transaction with a number ends with: one that contains another id, signs that JSON
// escapes, letters beside ASCII.
func (d *drawing) spelling(number int) string {
	list := []string{"%d", "%d", `%d"q"`, `%d\\`, "%d<&'", "%dß", "%d{[", `%d\u0041`}
	if unicodeForms {
		list = append(list, "%de\u0301")
	}
	at := d.spells.IntN(len(list) + 2)
	if at >= len(list) {
		return fmt.Sprintf("%d|b%d", max(0, number-1), number) // another one's, and more
	}
	return fmt.Sprintf(list[at], number)
}

// partitioned puts a record where another producer's partitioner does.
func (d *drawing) partitioned(topic bus.Topic, record ingest.Outgoing) ingest.Outgoing {
	if twoPartitioners && !record.Pinned && d.spells.IntN(4) == 0 {
		record.Pinned, record.Partition = true, d.spells.IntN(partitions[topic])
	}
	return record
}

// alone leaves out the forms that stand in the ids of other transactions, too: an id is looked for as a whole there.
func (w *world) alone(forms []residue.Form, id lethe.TransactionID) (out []residue.Form) {
	within := false
	for _, e := range w.events {
		for _, name := range e.names {
			within = within || name != id && strings.Contains(string(name), string(id))
		}
	}
	for _, f := range forms {
		if !within || string(f.Bytes) != string(id) {
			out = append(out, f)
		}
	}
	return out
}
