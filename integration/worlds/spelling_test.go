package worlds

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/normalise"
	"lethe/internal/residue"
	"lethe/pipeline/role/roletest"
)

// spelling draws what the id of the transaction with a number ends with: one that contains another id, signs that JSON
// escapes, letters beside ASCII, letters whose marks stand apart.
func (d *drawing) spelling(number int) string {
	list := []string{"%d", "%d", `%d"q"`, `%d\\`, "%d<&'", "%dß", "%d{[", `%d\u0041`, "%de\u0301"}
	at := d.spells.IntN(len(list) + 2)
	if at >= len(list) {
		return fmt.Sprintf("%d|b%d", max(0, number-1), number) // another one's, and more
	}
	return fmt.Sprintf(list[at], number)
}

// partitioned puts a record where another producer's partitioner does, but for the first one of a transaction: what is
// in no graph carries no subject that would take its labels with it.
func (d *drawing) partitioned(topic bus.Topic, record ingest.Outgoing, names int) ingest.Outgoing {
	another := topic == bus.Labels || names > 1 || slices.ContainsFunc(d.events, func(e event) bool {
		return e.topic == topic && bytes.Equal(e.record.Key, record.Key)
	})
	if another && !record.Pinned && d.spells.IntN(4) == 0 {
		record.Pinned, record.Partition = true, d.spells.IntN(partitions[topic])
	}
	return record
}

// misplaced are the keys that stand in other partitions than their own as well: of dead letters with one key the last
// stays, and across partitions none is the last: which partition is read first is drawn, and a record in the wrong
// partition is refused whenever it is read.
func (w *world) misplaced() map[string]bool {
	keys := make(map[string]bool)
	for _, e := range w.events {
		if r := e.record; len(e.names) > 0 && r.Pinned && r.Partition != bus.PartitionOf(r.Key, partitions[e.topic]) {
			keys[string(r.Key)] = true
			keys[fmt.Sprintf(">!refused!%s%s>%s", roletest.Prefix, e.topic, r.Key)] = true // of a label or a payment
		}
	}
	return keys
}

// guessed are the keys of broken records whose id holds that of a target and more: where a broken text has lost its
// quotation marks, what it names is a guess, and one that may be of a target goes. That is on the safe side: a dead
// letter of another transaction goes, and nothing of a target stays.
func (w *world) guessed() map[string]bool {
	keys := make(map[string]bool)
	for _, target := range w.targets() {
		id := string(target.Transaction)
		for _, e := range w.events {
			if e.broken && id != "" && strings.Contains(string(e.names[0]), id) {
				keys[string(e.record.Key)] = true
			}
		}
	}
	return keys
}

// form is that of Unicode in which lethe compares names.
var form = normalise.Rule{normalise.NFC}

func formed(id lethe.TransactionID) lethe.TransactionID {
	return lethe.TransactionID(form.Name(string(id)))
}

// normal has what is known of the records, and the requests, name all in the form of lethe. The records themselves, and
// what is asked for beside the requests, keep that in which they were drawn.
func (d *drawing) normal() {
	d.spelt = make(map[lethe.TransactionID]lethe.TransactionID)
	for i := range d.events {
		e := &d.events[i]
		e.names = d.formedAll(e.names)
		if o := e.operation; o != nil && o.aborted != nil {
			o.aborted.names = d.formedAll(o.aborted.names)
		} else if o != nil && o.opened != nil {
			o.opened.names = d.formedAll(o.opened.names)
		} else if o != nil && o.hold != nil {
			o.hold.Transactions = d.formedAll(o.hold.Transactions)
		}
		if e.request == nil {
			continue
		}
		for n := range e.request.Targets {
			t := &e.request.Targets[n]
			t.Transaction = formed(t.Transaction)
			t.Payment.Source, t.Payment.Target = formed(t.Payment.Source), formed(t.Payment.Target)
		}
	}
	d.kept = d.formedAll(d.kept)
}

func (d *drawing) formedAll(ids []lethe.TransactionID) (out []lethe.TransactionID) {
	for _, id := range ids {
		name := formed(id)
		if name != id {
			d.spelt[name] = id
		}
		out = append(out, name)
	}
	return out
}

// spellings are an id as lethe and as its producer writes it.
func (w *world) spellings(id lethe.TransactionID) []lethe.TransactionID {
	if as, other := w.spelt[id]; other {
		return []lethe.TransactionID{id, as}
	}
	return []lethe.TransactionID{id}
}

// aloneAsPayment leaves out the form that stands in the keys of other payments, too, refused ones among them, of ids
// that go on. As in alone, it is bytes of another payment's name, which lethe compares as a whole; every other form of
// the payment is looked for.
func (w *world) aloneAsPayment(forms []residue.Form, p lethe.Payment) []residue.Form {
	key := string(p.Source) + ">" + string(p.Target)
	if !slices.ContainsFunc(w.events, func(e event) bool {
		other := string(e.record.Key)
		return other != key && strings.Contains(other, key)
	}) {
		return forms
	}
	return slices.DeleteFunc(forms, func(f residue.Form) bool { return string(f.Bytes) == key })
}

// alone leaves out the one form that stands in the ids of other transactions, too: the bare bytes. Worlds without this
// allowance fail, for those of "1-1" are in a stored "1-1|b2", which stays. The id in JSON and both forms of its
// pseudonym are looked for everywhere.
func (w *world) alone(forms []residue.Form, id lethe.TransactionID) (out []residue.Form) {
	within := false
	for _, e := range w.events {
		for _, name := range e.names {
			for _, as := range w.spellings(name) {
				within = within || name != formed(id) && strings.Contains(string(as), string(id))
			}
		}
	}
	for _, f := range forms {
		if !within || string(f.Bytes) != string(id) {
			out = append(out, f)
		}
	}
	return out
}
