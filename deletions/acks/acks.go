// Package acks has the acknowledgements of requests by the processes of all roles, and the processes that a request
// waits for.
package acks

import (
	"maps"
	"slices"

	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/deletions/translog"
	"lethe/ingest"
	"lethe/pipeline/wire"
)

// The roles whose acknowledgements are waited for.
const (
	Train = "train"
	Score = "score"
	// View is waited for if a process has ever had the role.
	View = "view"
	// Graphs is the role of the coordinator: its standbys are waited for.
	Graphs = "graphs"
)

// Acks holds the newest acknowledgement of each process and step, by request. It is for one goroutine.
type Acks struct {
	newest map[string]map[source]deletions.Ack
	// members are the published data directories of each role. All of them are waited for, running or not, and
	// acknowledgements of other directories are ignored.
	members *wire.Members
	// settings are the published settings of each role.
	settings map[string]wire.Settings
	// own is the data directory of this process if there are standbys for its role, else empty.
	own string
	// unlogged means that a take-over or a strike may not be in the transparency log.
	unlogged bool
}

// source identifies the process and step of an acknowledgement.
type source struct {
	role, instance, run string
	step                deletions.Step
}

// New returns an Acks without any. own is the data directory of this process if there are standbys, else empty.
func New(own string) *Acks {
	return &Acks{
		own:    own,
		newest: make(map[string]map[source]deletions.Ack), members: new(wire.Members),
		settings: make(map[string]wire.Settings),
	}
}

// Take adds a record of control.v1 about processes, settings or acknowledgements.
func (a *Acks) Take(n wire.Notice) {
	if n.Instance != nil || n.Member != nil || n.Strike != nil {
		a.members.Take(n)
		a.unlogged = true
	}
	if settings := n.Settings; settings != nil && !settings.Late(a.settings[settings.Role]) {
		a.settings[settings.Role] = *settings
	}
	if n.Ack != nil {
		a.add(*n.Ack)
	}
}

// add adds an acknowledgement. A late one of an earlier process or attempt replaces none: acknowledgements are not
// repeated.
func (a *Acks) add(ack deletions.Ack) {
	if a.newest[ack.RequestID] == nil {
		a.newest[ack.RequestID] = make(map[source]deletions.Ack)
	}
	from := source{ack.Role, ack.Instance, ack.Run, ack.Step}
	if known := a.newest[ack.RequestID]; known[from].Attempt <= ack.Attempt {
		known[from] = ack
	}
}

// Settings are those of each role.
func (a *Acks) Settings() map[string]wire.Settings { return a.settings }

// Of returns a role's acknowledgement of an attempt of the request, or of the batch that it leads, once every member
// of the role has acknowledged: that of the first, which equals the others except for the search.
func (a *Acks) Of(requestID string, attempt int, role string, step deletions.Step) (deletions.Ack, bool) {
	all := a.All(requestID, attempt, role, step)
	if len(all) == 0 {
		return deletions.Ack{}, false
	}
	return all[0], true
}

// All returns the acknowledgements of every member of a role, ascending by instance, or none while one is missing. If
// no member is known, one acknowledgement is enough.
func (a *Acks) All(requestID string, attempt int, role string, step deletions.Step) []deletions.Ack {
	answered, awaited := a.answered(requestID, attempt, role, step), a.awaited(role)
	if !a.members.Known(role) {
		awaited = slices.Sorted(maps.Keys(answered))[:min(1, len(answered))]
	}
	var out []deletions.Ack
	for _, instance := range awaited {
		ack, found := answered[instance]
		if !found {
			return nil
		}
		out = append(out, ack)
	}
	return out
}

// Shown reports whether score, and the processes that show people predictions, have done a step.
func (a *Acks) Shown(requestID string, attempt int, step deletions.Step) (deletions.Ack, bool) {
	ack, ok := a.Of(requestID, attempt, Score, step)
	shown := len(a.members.Of(View)) == 0 || len(a.All(requestID, attempt, View, step)) > 0
	return ack, ok && shown
}

// Missing are the data directories of a role that are waited for and have not done a step.
func (a *Acks) Missing(requestID string, attempt int, role string, step deletions.Step) []string {
	answered := a.answered(requestID, attempt, role, step)
	acknowledged := func(instance string) bool { return answered[instance].Instance == instance }
	return slices.DeleteFunc(slices.Clone(a.awaited(role)), acknowledged)
}

// answered are the acknowledgements that count, by instance.
func (a *Acks) answered(requestID string, attempt int, role string, step deletions.Step) map[string]deletions.Ack {
	out := make(map[string]deletions.Ack)
	for from, ack := range a.newest[requestID] {
		other, has := out[from.instance] // of another run, if the present one is not known
		if from.role == role && from.step == step && a.counts(ack, attempt) && (!has || other.Run < ack.Run) {
			out[from.instance] = ack
		}
	}
	return out
}

// counts reports whether an acknowledgement is one of an attempt, by the process that the data directory has now.
func (a *Acks) counts(ack deletions.Ack, attempt int) bool {
	run := a.members.RunOf(ack.Role, ack.Instance)
	return ack.Attempt >= attempt && (run == "" || ack.Run == run)
}

// awaited are the data directories whose acknowledgements are awaited: for graphs, the others that hold them.
func (a *Acks) awaited(role string) []string {
	switch {
	case role != Graphs:
		return a.members.Of(role)
	case a.own == "":
		return nil
	}
	return slices.DeleteFunc(a.members.Of(role), func(identity string) bool { return identity == a.own })
}

// Holders are the roles of which others than this process hold copies.
func (a *Acks) Holders() []string {
	roles := []string{Train, Score}
	for _, role := range []string{Graphs, View} {
		if len(a.awaited(role)) > 0 {
			roles = append(roles, role)
		}
	}
	return roles
}

// Searched sums up the other roles' searches for a request, or the batch that it leads, once all have acknowledged.
func (a *Acks) Searched(requestID string, attempt int, step deletions.Step) (all scan.Summary, ok bool) {
	for _, role := range a.Holders() {
		acks := a.All(requestID, attempt, role, step)
		if len(acks) == 0 {
			return all, false
		}
		for _, ack := range acks {
			all = all.Add(*ack.Scan)
		}
	}
	return all, true
}

// Drop forgets a request's acknowledgements and returns the tombstones that
// delete them from the topic, in the order of their keys.
func (a *Acks) Drop(requestID string) []ingest.Outgoing {
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

// LogTakeOvers has every take-over and every strike in the transparency log, once.
func (a *Acks) LogTakeOvers(log *translog.Log) error {
	if !a.unlogged {
		return nil
	}
	var leaves []translog.Leaf
	for _, g := range a.Gone() {
		switch {
		case g.Struck:
			leaves = append(leaves, translog.StrikeOff(g.Role, g.Instance, g.DeclaredAt))
		case g.Instance != "":
			leaves = append(leaves, translog.TakeOver(g.Role, g.Instance, g.DeclaredAt))
		}
	}
	if err := log.Append(leaves...); err != nil {
		return err
	}
	a.unlogged = false
	return nil
}

// Gone are the folders that an operator has declared lost.
func (a *Acks) Gone() (out []deletions.GoneFolder) {
	for _, role := range []string{Graphs, Train, Score, View} {
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
