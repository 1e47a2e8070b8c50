package worlds

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"lethe/deletions/ledgercopy"
	"lethe/deletions/receipt"
)

// loss is the folder of a process that is empty when that begins again.
type loss struct {
	role   string
	number int
}

// refusedAgain are kinds of records that are refused under the key of an accepted one. After compaction a process that
// begins with an empty folder reads the refused record alone.
var refusedAgain = []string{"narrow", "moved", "stray label", "far"}

// newcomers draws that the last process of a role begins later than the others, often once all is done, and often leads
// then, and that processes lose their folders.
func (d *drawing) newcomers(chance *rand.Rand) {
	if !d.emptied {
		return
	}
	d.world.newcomers = make(map[string]bool)
	for _, of := range []struct {
		role      string
		processes int
	}{{ofGraphs, d.builders}, {ofScore, d.scorers}, {ofTrain, d.trainers}} {
		last := of.processes - 1
		if last > 0 && chance.IntN(2) == 0 {
			d.world.newcomers[of.role] = true
			d.comesEmpty(chance, of.role, last, joins)
		}
		for n := chance.IntN(3); n > 0 && last >= 0; n-- {
			number := chance.IntN(of.processes)
			d.comesEmpty(chance, of.role, number, loses, joins)
		}
	}
	roles := []loss{{ofGraphs, d.builders}, {ofScore, d.scorers}, {ofTrain, d.trainers}, {ofView, 1}}
	for i := range d.crashes {
		if lost := roles[chance.IntN(len(roles))]; chance.IntN(2) == 0 {
			lost.number = chance.IntN(max(1, lost.number))
			d.crashes[i].lost = &lost
		}
	}
}

// comesEmpty has something happen to a process at once, before a request or anywhere; often all comes to rest before
// and after it, and the process leads then.
func (d *drawing) comesEmpty(chance *rand.Rand, role string, number int, what ...string) {
	at, leadsLast := chance.IntN(len(d.events)+1), chance.IntN(2) == 0
	if requests := d.requestsAt(); len(requests) > 0 && chance.IntN(2) == 0 {
		at = requests[chance.IntN(len(requests))]
	}
	var all []operation
	if chance.IntN(2) == 0 {
		all = append(all, operation{pause: true})
	}
	for _, one := range what {
		all = append(all, happens(role, number, one, chance.IntN(2) == 0))
	}
	if chance.IntN(2) == 0 {
		all = append(all, operation{pause: true})
	}
	if role != ofTrain && chance.IntN(2) == 0 {
		all = append(all, happens(role, number, leads, false))
	}
	for _, o := range slices.Backward(all) {
		d.insert(at, o)
	}
	if role != ofTrain && leadsLast {
		d.insert(len(d.events), happens(role, number, leads, false))
	}
}

// requestsAt are the positions of requests.
func (w *world) requestsAt() (out []int) {
	for i, e := range w.events {
		if e.request != nil {
			out = append(out, i)
		}
	}
	return out
}

func happens(role string, number int, what string, machine bool) operation {
	if role != ofTrain {
		return operation{change: &change{role: role, number: number, what: what, machine: machine}}
	}
	s := shift{leaves: nobody, joins: number, deaf: nobody}
	if what == loses {
		s.leaves, s.joins, s.machine, s.loses = number, nobody, machine, true
	}
	return operation{shift: &s}
}

// lose empties the folder of a process, which does not run. A process that has graphs alone keeps its own while a
// request is carried out: it would not begin without.
func (d *deployment) lose(ctx context.Context, l loss) error {
	folders := map[string][]string{
		ofGraphs: d.folders(ofGraphs, "/build"), ofScore: d.folders(ofScore, "/score"), ofTrain: d.crew.folders(),
		ofView: {"/view"},
	}
	if l.role == ofGraphs {
		if keeps, err := d.keepsFolder(ctx); keeps || err != nil {
			return err
		}
		if d.group(ofGraphs) != nil {
			if err := removeReceipts(d.receiptsOf(l.number)); err != nil {
				return err
			}
		}
	}
	if g := d.group(l.role); g != nil {
		g.emptied[l.number] = true
	} else if l.role == ofGraphs {
		d.topics.log.rebuilt = true
	}
	if err := d.disk.memory.RemoveAll(folders[l.role][l.number]); err != nil {
		return err
	}
	return syncFolders(d.disk.memory, "/")
}

// keepsFolder reports whether a process has graphs alone, and carries out a request.
func (d *deployment) keepsFolder(ctx context.Context) (bool, error) {
	if d.group(ofGraphs) != nil {
		return false, nil
	}
	kept, err := ledgercopy.Read(ctx, d.topics)
	for _, e := range kept.Entries {
		if e.Suppresses() && !e.State.Final() {
			return true, err
		}
	}
	return false, err
}

func removeReceipts(folder string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	for _, file := range files {
		if err == nil {
			err = os.Remove(file)
		}
	}
	return err
}

// absent are the roles of which a process has not begun yet.
func (d *deployment) absent() map[string]bool {
	out := map[string]bool{ofTrain: d.crew.newcomer != nobody}
	for _, g := range d.groups {
		out[g.role] = g.newcomer != nobody
	}
	return out
}

// searched compares the processes of a role whose folders were searched with all; one that had not begun as the request
// was sent may be missing.
func (c *comparison) searched(r receipt.Receipt, role string, all []string, got *state) {
	searched := searchedOf(r, role)
	if got.absent[r.RequestID][role] && len(searched) == len(all)-1 {
		all = all[:len(searched)]
	}
	what := "processes of " + role + " whose folders were searched for " + r.RequestID
	if role == ofGraphs { // who leads is not named
		c.equal(what, len(searched), len(all))
	} else {
		c.equal(what, searched, all)
	}
}
