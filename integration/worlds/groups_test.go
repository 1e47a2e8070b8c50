package worlds

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"lethe/pipeline/role"
)

// groupsOf are the groups of a world, in which no process runs.
func groupsOf(w world) (out []*group) {
	if w.builders > 0 {
		out = append(out, groupOf(ofGraphs, w.builders))
	}
	if w.scorers > 0 {
		out = append(out, groupOf(ofScore, w.scorers))
	}
	for _, g := range out {
		if w.newcomers[g.role] {
			g.newcomer = g.size() - 1
			g.away[g.newcomer], g.emptied[g.newcomer] = true, true
		}
	}
	return out
}

// group is that of a role, nil where one process plays it alone.
func (d *deployment) group(role string) *group {
	for _, g := range d.groups {
		if g.role == role {
			return g
		}
	}
	return nil
}

// size is how many processes there are. It may be called of nil.
func (g *group) size() int {
	if g == nil {
		return 0
	}
	return len(g.away)
}

// names are those of the data directories. It may be called of nil.
func (g *group) names() (out []string) {
	for i := range g.size() {
		out = append(out, g.name(i))
	}
	return out
}

// led is the number of who leads, or 0 where one process plays the role alone.
func (g *group) led() int {
	if g == nil || g.leader == nobody {
		return 0
	}
	return g.leader
}

// folders are those of a role, however many processes play it.
func (d *deployment) folders(role, alone string) (out []string) {
	g := d.group(role)
	if g == nil {
		return []string{alone}
	}
	for i := range g.away {
		out = append(out, g.folder(i))
	}
	return out
}

// receiptsOf is where a process keeps receipts.
func (d *deployment) receiptsOf(number int) string {
	if number == 0 {
		return d.receipts
	}
	return filepath.Join(d.receipts, "process-"+d.group(ofGraphs).name(number))
}

// running are all roles that are open.
func (d *deployment) running() (out []*running) {
	for _, h := range d.hosts() {
		if h.now != nil {
			out = append(out, h.now)
		}
	}
	return append(out, d.roles...)
}

// hosts are the processes of groups that run.
func (d *deployment) hosts() (out []*host) {
	for _, g := range d.groups {
		for _, h := range g.hosts {
			if h != nil {
				out = append(out, h)
			}
		}
	}
	return out
}

// leaders are the roles of those that lead.
func (d *deployment) leaders() (out []*running) {
	for _, h := range d.hosts() {
		if h.now != nil && h.term > 0 {
			out = append(out, h.now)
		}
	}
	return append(out, d.roles...)
}

// startGroups begins all processes that are not away.
func (d *deployment) startGroups(ctx context.Context) error {
	for _, g := range d.groups {
		g.clock = d.clock
		if err := g.register(ctx, d); err != nil {
			return err
		}
		for i := range g.away {
			if g.away[i] {
				continue
			}
			if err := d.begin(ctx, g, i); err != nil {
				return err
			}
		}
		g.elect()
	}
	return nil
}

// turns gives every process a turn.
func (d *deployment) turns(ctx context.Context) (busy bool, err error) {
	for _, h := range d.hosts() {
		h.group.commit()
		had, err := h.give(ctx, func() (bool, error) { return h.turn(ctx) })
		if err != nil {
			return busy, err
		}
		busy = busy || had
	}
	return busy, nil
}

// tickGroups tells every process that time has passed.
func (d *deployment) tickGroups(ctx context.Context) error {
	for _, h := range d.hosts() {
		h.group.commit()
		_, err := h.give(ctx, func() (bool, error) {
			if h.now == nil || h.now.session == nil {
				return false, nil
			}
			return false, h.now.session.Tick(ctx)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// stopGroups ends all processes.
func (d *deployment) stopGroups() error {
	var err error
	for _, h := range d.hosts() {
		h.group.hosts[h.number] = nil
		err = errors.Join(err, h.end())
	}
	return err
}

// endSearches ends what runs beside a process.
func (d *deployment) endSearches(h *host) {
	isOf := func(s search) bool { return s.of == h }
	for at := slices.IndexFunc(d.searches, isOf); at >= 0; at = slices.IndexFunc(d.searches, isOf) {
		s := d.searches[at]
		d.searches = slices.Delete(slices.Clone(d.searches), at, at+1)
		s.run()
	}
}

// known is what those that lead know.
func (d *deployment) known() *role.Status {
	var all []*role.Status
	for _, r := range d.leaders() {
		all = append(all, r.follower.Status())
	}
	return role.Merge(all...)
}

// standing is what those know that stand by, by role; nil for graphs of a process that began with an empty folder:
// records that were replaced before it read them wait until it leads.
func (d *deployment) standing() map[string][]*role.Status {
	out := make(map[string][]*role.Status)
	for _, h := range d.hosts() {
		if h.now == nil || h.term > 0 {
			continue
		}
		status := h.now.follower.Status()
		if h.group.role == ofGraphs && h.group.emptied[h.number] {
			status = nil
		}
		out[h.group.role] = append(out[h.group.role], status)
	}
	return out
}

// ledReceipts is the folder of receipts of who leads, made if it is not there.
func (d *deployment) ledReceipts() (string, error) {
	folder := d.receiptsOf(d.group(ofGraphs).led())
	return folder, os.MkdirAll(folder, 0o700)
}
