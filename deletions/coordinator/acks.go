package coordinator

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"lethe/deletions"
	"lethe/deletions/translog"
	"lethe/ingest"
	"lethe/pipeline/wire"
)

// The roles whose acknowledgements are waited for.
const (
	trainRole = "train"
	scoreRole = "score"
	// viewRole is waited for where somebody said that he plays it.
	viewRole = "view"
	// graphsRole is this one.
	graphsRole = "graphs"
)

// acks holds the newest acknowledgement of each process and step, by request.
type acks struct {
	newest map[string]map[source]deletions.Ack
	// members are the data directories that play each role, as far as it was said. All of
	// them are waited for, whether or not they run, and nobody else's acknowledgements count:
	// what another directory holds is not what was searched.
	members *wire.Members
	// settings are what each role has said that others must share.
	settings map[string]wire.Settings
	// own is the data directory of this process, where others stand by for its role, else empty.
	own string
	// unlogged says that a take-over or a strike may not be in the transparency log.
	unlogged bool
}

// source is whose acknowledgement it is, and of what.
type source struct {
	role, instance, run string
	step                deletions.Step
}

func newAcks(own string) acks {
	return acks{
		own:    own,
		newest: make(map[string]map[source]deletions.Ack), members: new(wire.Members),
		settings: make(map[string]wire.Settings),
	}
}

// take notes an acknowledgement. What brokers get late, of an earlier process or attempt, takes nothing back: nobody
// says a second time what it has said.
func (a acks) take(ack deletions.Ack) {
	if a.newest[ack.RequestID] == nil {
		a.newest[ack.RequestID] = make(map[source]deletions.Ack)
	}
	from := source{ack.Role, ack.Instance, ack.Run, ack.Step}
	if known := a.newest[ack.RequestID]; known[from].Attempt <= ack.Attempt {
		known[from] = ack
	}
}

// of returns a role's acknowledgement of an attempt of the request, or of the batch that it
// leads, once every member of the role has answered: that of the first, who agrees with the
// others in everything but what was searched.
func (a acks) of(requestID string, attempt int, role string, step deletions.Step) (deletions.Ack, bool) {
	all := a.all(requestID, attempt, role, step)
	if len(all) == 0 {
		return deletions.Ack{}, false
	}
	return all[0], true
}

// all returns the acknowledgements of every member of a role, ascending by instance, or none
// as long as one is missing. Where nobody has said who plays the role, as in earlier versions,
// one acknowledgement is enough.
func (a acks) all(requestID string, attempt int, role string, step deletions.Step) []deletions.Ack {
	answered, awaited := a.answered(requestID, attempt, role, step), a.awaited(role)
	if !a.members.Known(role) {
		awaited = slices.Sorted(maps.Keys(answered))[:min(1, len(answered))]
	}
	var out []deletions.Ack
	for _, instance := range awaited {
		ack, said := answered[instance]
		if !said {
			return nil
		}
		out = append(out, ack)
	}
	return out
}

// answered are the acknowledgements that count, by instance.
func (a acks) answered(requestID string, attempt int, role string, step deletions.Step) map[string]deletions.Ack {
	out := make(map[string]deletions.Ack)
	for from, ack := range a.newest[requestID] {
		// A process of an earlier version, which does not tell, may have answered as well.
		other, has := out[from.instance]
		if from.role == role && from.step == step && a.counts(ack, attempt) && (!has || other.Run < ack.Run) {
			out[from.instance] = ack
		}
	}
	return out
}

// awaited are the data directories whose answers are waited for.
func (a acks) awaited(role string) []string {
	if role == graphsRole {
		return a.standbys()
	}
	return a.members.Of(role)
}

// missing are those of them that have not done a step.
func (a acks) missing(requestID string, attempt int, role string, step deletions.Step) []string {
	answered := a.answered(requestID, attempt, role, step)
	said := func(instance string) bool { return answered[instance].Instance == instance }
	return slices.DeleteFunc(slices.Clone(a.awaited(role)), said)
}

// counts reports whether an acknowledgement is one of an attempt, by the process that the data directory has now.
func (a acks) counts(ack deletions.Ack, attempt int) bool {
	run := a.members.RunOf(ack.Role, ack.Instance)
	return ack.Attempt >= attempt && (ack.Run == "" || run == "" || ack.Run == run)
}

// standbys are the other data directories that hold graphs.
func (a acks) standbys() []string {
	if a.own == "" {
		return nil
	}
	return slices.DeleteFunc(a.members.Of(graphsRole), func(identity string) bool { return identity == a.own })
}

// holders are the roles of which others than this process hold copies.
func (a acks) holders() []string {
	roles := []string{trainRole, scoreRole}
	if len(a.standbys()) > 0 {
		roles = append(roles, graphsRole)
	}
	if len(a.members.Of(viewRole)) > 0 {
		roles = append(roles, viewRole)
	}
	return roles
}

// hides reports whether those who tell people of predictions, beside score, have done a step.
func (a acks) hides(requestID string, attempt int, step deletions.Step) bool {
	return len(a.members.Of(viewRole)) == 0 || len(a.all(requestID, attempt, viewRole, step)) > 0
}

// drop forgets a request's acknowledgements and returns the tombstones that
// delete them from the topic, in the order of their keys.
func (a acks) drop(requestID string) []ingest.Outgoing {
	var keys []string
	for ack := range maps.Values(a.newest[requestID]) {
		keys = append(keys, ack.Key())
	}
	delete(a.newest, requestID)
	slices.Sort(keys)
	records := make([]ingest.Outgoing, len(keys))
	for i, key := range keys {
		records[i].Key = []byte(key)
	}
	return records
}

// logTakeOvers has every take-over and every strike that was said in the transparency log,
// once.
func (a *acks) logTakeOvers(log *translog.Log) error {
	if !a.unlogged {
		return nil
	}
	var leaves []translog.Leaf
	for _, g := range a.gone() {
		switch {
		case g.Struck:
			leaves = append(leaves, translog.StrikeOff(g.Role, g.Instance, g.DeclaredAt))
		case g.Instance != "":
			leaves = append(leaves, translog.TakeOver(g.Role, g.Instance, g.DeclaredAt))
		}
	}
	if _, err := log.Append(leaves...); err != nil {
		return err
	}
	a.unlogged = false
	return nil
}

// gone are the folders that no role answers for any more, as an operator has said.
func (a acks) gone() (out []deletions.GoneFolder) {
	for _, role := range []string{graphsRole, trainRole, scoreRole, viewRole} {
		i, _ := a.members.Alone(role)
		if i.Earlier > 0 {
			out = append(out, deletions.GoneFolder{Role: role, Earlier: i.Earlier})
		}
		for _, r := range i.Replaced {
			if !a.members.IsStruck(role, r.Identity) {
				out = append(out, deletions.GoneFolder{Role: role, Instance: r.Identity, DeclaredAt: r.At})
			}
		}
		for _, s := range a.members.Struck(role) {
			out = append(out, deletions.GoneFolder{Role: role, Instance: s.Identity, DeclaredAt: s.At, Struck: true})
		}
	}
	return out
}

// awaitsBarrier reports whether somebody may have joined before the search has ended of whom this
// process has not read yet. Who joins later reads topics that were searched, and can hold no copy.
func (v *Verification) awaitsBarrier(ctx context.Context, b batch) (bool, error) {
	if v.barrier == "" {
		v.barrier = fmt.Sprintf("%s/%d/%d", b.leader, b.attempts(), v.states.o.Clock.Now().UnixNano())
		v.passed, v.unsaid = false, true
	}
	if v.passed || !v.unsaid {
		return !v.passed, nil
	}
	record, err := wire.Barrier{Name: v.barrier}.Record()
	if err != nil {
		return false, err
	}
	if err := wire.Say(ctx, v.states.o.Bus, []ingest.Outgoing{record}); err != nil {
		return false, err
	}
	v.unsaid = false
	return true, nil
}

// passes notes that a barrier has come back. Another one may stand in the place of the one that is awaited, of who led
// before or written again, and once the topic is compacted that one does not come any more: it is said again.
func (v *Verification) passes(b wire.Barrier) {
	v.passed = v.passed || v.barrier != "" && b.Name == v.barrier
	v.unsaid = v.barrier != "" && !v.passed
}

// TakeNotices notes what the other roles acknowledged on control.v1.
// Errors are those of the ledger's store.
func (c *Coordinator) TakeNotices(notices []wire.Notice) error {
	c.states.dirty = true
	for _, n := range notices {
		if n.Strike != nil {
			if refusal := n.Strike.Refusal(c.states.o.Authority); refusal != nil {
				c.states.o.Logger.Warn("a strike was passed over: what is said of processes must be signed by an admin",
					"role", n.Strike.Role, "instance", n.Strike.Identity, "reason", refusal.Reason, "detail", refusal.Detail)
				continue
			}
		}
		if n.Instance != nil || n.Member != nil || n.Strike != nil {
			c.states.acks.members.Take(n)
			c.states.acks.unlogged = true
		}
		if said := n.Settings; said != nil && !said.Late(c.states.acks.settings[said.Role]) {
			c.states.acks.settings[said.Role] = *said
		}
		if n.Ack != nil {
			c.states.acks.take(*n.Ack)
			if err := c.states.out.answered(*n.Ack); err != nil {
				return err
			}
		}
		if n.Barrier != nil {
			c.states.verification.passes(*n.Barrier)
		}
	}
	return nil
}
