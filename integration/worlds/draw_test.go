package worlds

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"pgregory.net/rapid"

	"lethe"
	"lethe/partition/onehop"
	"lethe/snapshot"
)

// options say what a world may hold.
type options struct {
	// late records come behind the end of their timestep; killed is the process at a
	// random write; some requests are of scope shard.
	late, kills, shardScope bool
	// several processes train together.
	several bool
	// pauses let everything come to rest in between.
	pauses bool
	// led are graphs and erasures, or score: one process leads, others stand by.
	led bool
	// loose worlds refuse late records by when timesteps were closed.
	loose bool
	// least and most are the numbers of transactions of a timestep, requests the most
	// requests, of up to three targets each.
	least, most, requests int
}

// drawWorld draws a world.
func drawWorld(t *rapid.T, k options) world {
	d := drawing{T: t, options: k, world: world{last: lethe.Timestep(rapid.IntRange(1, 4).Draw(t, "timesteps"))}}
	places := rapid.Uint64().Draw(t, "places")
	d.chance, d.wider = rand.New(rand.NewPCG(places, 1)), rand.New(rand.NewPCG(places, 2))
	d.redacts = rand.New(rand.NewPCG(places, 4))
	d.spells = rand.New(rand.NewPCG(places, 14))
	empties := rand.New(rand.NewPCG(places, 19))
	d.emptied = !k.loose && empties.IntN(2) == 0
	d.world.late, d.world.loose, d.config = k.late, k.loose, d.settings()
	var ids []lethe.TransactionID
	for at := lethe.Timestep(1); at <= d.last; at++ {
		ids = append(ids, d.timestep(at, ids)...)
	}
	if k.late {
		d.displace()
	}
	d.requests(append(ids, neverSent, neverNamed))
	if d.wider.IntN(3) == 0 {
		d.subject(k)
	}
	d.patience = d.chance.IntN(6)
	// Scope shard does not go with rows that hold something of their neighbours.
	isShard := func(e event) bool { return e.request != nil && e.request.Scope == lethe.ScopeShard }
	if !slices.ContainsFunc(d.events, isShard) {
		d.oneHop = onehop.Mode(d.chance.IntN(3))
	}
	d.independent = rapid.IntRange(0, 2).Draw(t, "independent") == 2
	d.components = rapid.SampledFrom(componentLists()).Draw(t, "components")
	d.window = time.Duration(d.chance.IntN(3)) * 5 * time.Second
	hurry := rapid.SampledFrom([]int{1, 2, 5}).Draw(t, "hurry")
	for i := range d.events {
		if polls := max(0, d.chance.IntN(8)-hurry); d.events[i].polls < everythingRead {
			d.events[i].polls = polls
		}
	}
	for range rapid.SampledFrom([]int{0, 1, 1, 2}).Draw(t, "killed") {
		if k.kills {
			d.crashes = append(d.crashes, crash{
				share: d.chance.Float64(), torn: d.chance.IntN(2) == 0, whole: d.chance.IntN(3) == 0,
			})
		}
	}
	if c := &d.config; !d.emptied &&
		c.AllowedLatenessTimesteps == snapshot.ByControl && c.LabelLatenessTimesteps == snapshot.ByControl {
		// Control records alone tell how far back a record is, and none of them is a target.
		if most := rand.New(rand.NewPCG(places, 13)).IntN(4); most < 3 {
			c.ReopenTimesteps, d.bounded = most, true
		}
	}
	if rand.New(rand.NewPCG(places, 12)).IntN(2) == 0 {
		d.config.RowFileBytes = 1 // all rows of open timesteps are in files
	}
	d.operate(rand.New(rand.NewPCG(places, 3)))
	if !k.late {
		d.ahead(rand.New(rand.NewPCG(places, 8)))
	}
	d.uncommitted(rand.New(rand.NewPCG(places, 15)))
	d.rejected(rand.New(rand.NewPCG(places, 16)))
	if k.several {
		d.several(rand.New(rand.NewPCG(places, 5)))
	}
	if k.pauses {
		d.losses(rand.New(rand.NewPCG(places, 10)))
		d.pauses(rand.New(rand.NewPCG(places, 9)))
		d.outdated(rand.New(rand.NewPCG(places, 11)))
	}
	if k.led {
		d.led(rand.New(rand.NewPCG(places, 6)))
	}
	if k.led || k.several {
		d.faults(rand.New(rand.NewPCG(places, 7)))
	}
	d.newcomers(empties)
	d.hidden(rand.New(rand.NewPCG(places, 17)))
	d.opened(rand.New(rand.NewPCG(places, 18)))
	d.normal()
	return d.world
}

// settings draws when timesteps end. Where worlds are compared, what is refused as late must
// not depend on the targets: it is refused only where control records alone end a
// timestep, or where they have ended it before anything could be late.
func (d *drawing) settings() snapshot.Config {
	c := snapshot.Defaults()
	// So that a world repeats: writes come in one sequence.
	c.RewriteAtOnce = 1
	draw := func(of ...int) int { return of[d.chance.IntN(len(of))] }
	c.AllowedLatenessTimesteps = draw(0, 0, 1, snapshot.ByControl)
	c.LabelLatenessTimesteps = draw(snapshot.ByControl, snapshot.ByControl, 0, 1)
	c.ReopenWindow = time.Duration(draw(0, 5, 30)) * time.Second
	// Further back than any record: what is compared with is a timestep all the same.
	c.ReopenTimesteps = draw(snapshot.AnyTimestep, 100)
	c.FeatureCount = draw(features, features, features, 0)
	if draw(0, 0, 0, 1) == 1 && !d.emptied {
		c.Late = snapshot.DeadLetter
	}
	switch {
	case d.options.loose:
		c.ReopenTimesteps = draw(0, 0, 1, 2, snapshot.AnyTimestep)
	case d.options.late && c.Late == snapshot.DeadLetter:
		c.AllowedLatenessTimesteps, c.LabelLatenessTimesteps = snapshot.ByControl, snapshot.ByControl
	}
	return c
}

// drawing is a world that is being drawn.
type drawing struct {
	*rapid.T
	options
	world
	// chance chooses what rapid would not choose evenly: where things happen.
	chance *rand.Rand
	// wider chooses targets that are no transactions, so that the rest of a world stays what
	// it is without them.
	wider *rand.Rand
	// redacts chooses features that are targets.
	redacts *rand.Rand
	// spells chooses how ids are spelt.
	spells *rand.Rand
	// rows are the features that were sent so far.
	rows [][]float32
	// bounded says that late records may be refused because they are too far back.
	bounded bool
	// emptied says that processes begin with an empty folder.
	emptied bool
}

// neverSent is named by payments and labels and never comes.
const neverSent = lethe.TransactionID("unknown-1")

// neverNamed is named by requests alone. No text of lethe has it as a word: a receipt is searched, too, and says of a
// batch that nobody can read it.
const neverNamed = lethe.TransactionID("named-by-none-1")

// timestep draws the records of a timestep and its control records, and returns
// its transactions.
func (d *drawing) timestep(at lethe.Timestep, known []lethe.TransactionID) []lethe.TransactionID {
	var own []lethe.TransactionID
	for i := range rapid.IntRange(d.least, d.most).Draw(d.T, "transactions") {
		id := lethe.TransactionID(prefixOf(at) + d.spelling(i))
		own = append(own, id)
		d.transaction(id, at, d.row())
	}
	ends := append(append(slices.Clone(own), neverSent), known...)
	for range rapid.IntRange(0, 2*len(own)).Draw(d.T, "payments") {
		source := rapid.SampledFrom(ends).Draw(d.T, "source")
		d.payment(source, rapid.SampledFrom(own).Draw(d.T, "target"), at)
	}
	for _, id := range append(slices.Clone(own), neverSent) {
		for _, more := range rapid.SliceOfN(rapid.SampledFrom(kinds), 0, 3).Draw(d.T, "more") {
			d.more(more, id, at)
		}
	}
	d.ends(at)
	return own
}

// kinds are those of the records that come beside transactions and payments.
var kinds = []string{
	"label", "label", "label", "label", "repeated label", "corrected", "repeated", "broken", "narrow", "escaped",
	"moved", "stray label", "far", "loop", "alike",
}

// more draws another record about a transaction.
func (d *drawing) more(kind string, id lethe.TransactionID, at lethe.Timestep) {
	if d.emptied && slices.Contains(refusedAgain, kind) {
		return
	}
	switch kind {
	case "label":
		d.label(id, at)
		return
	case "repeated label":
		d.label(id, at)
		d.again()
		return
	case "stray label":
		d.label(id, max(1, at-1))
		return
	case "broken":
		d.broken(id, at)
		return
	}
	if id == neverSent {
		return
	}
	switch kind {
	case "corrected":
		d.transaction(id, at, d.row())
	case "repeated":
		d.transaction(id, at, d.row())
		d.again()
	case "narrow":
		if d.config.FeatureCount == 0 {
			return // if it comes first, it is right and all others are wrong
		}
		d.transaction(id, at, []float32{1})
	case "escaped":
		d.transaction(id, at, d.row())
		d.escape()
		d.payment(neverSent, id, at)
		d.escape()
		d.label(id, at)
		d.escape()
	case "moved":
		// Not ahead, where nothing may be late.
		d.transaction(id, max(1, at-1), d.row())
	case "far":
		d.transaction(id, at+1<<20, d.row())
	case "loop":
		d.loop(id, at)
	case "alike":
		d.transaction(id, at, d.rows[d.chance.IntN(len(d.rows))])
	}
}

// displace moves records behind others, but never behind a later one of their own
// key: of two with one key the last wins.
func (d *drawing) displace() {
	for i := len(d.events) - 2; i >= 0; i-- {
		moved := d.events[i]
		if len(moved.names) == 0 || d.chance.IntN(5) > 0 {
			continue
		}
		limit := i
		for limit+1 < len(d.events) && !slices.Equal(d.events[limit+1].record.Key, moved.record.Key) {
			limit++
		}
		to := i + d.chance.IntN(limit-i+1)
		d.events = slices.Insert(slices.Delete(d.events, i, i+1), to, moved)
	}
}

// requests draws requests and puts them among the records: some together, most apart.
func (d *drawing) requests(ids []lethe.TransactionID) {
	scopes := []lethe.Scope{lethe.ScopeStubs, lethe.ScopePartition}
	if d.shardScope {
		scopes = append(scopes, lethe.ScopeShard)
	}
	at := 0
	for i := range rapid.IntRange(0, d.options.requests).Draw(d.T, "requests") {
		request := lethe.ErasureRequest{
			RequestID: fmt.Sprintf("request-%d", i), Scope: rapid.SampledFrom(scopes).Draw(d.T, "scope"),
			Targets: lethe.Transactions(rapid.SliceOfNDistinct(
				rapid.SampledFrom(ids), 1, min(3, len(ids)), rapid.ID).Draw(d.T, "targets")...),
		}
		request.Targets = d.redact(d.widen(request.Targets, ids), ids)
		if i == 0 || d.chance.IntN(3) > 0 {
			at = d.chance.IntN(len(d.events) + 1)
		}
		d.events = slices.Insert(d.events, at, event{request: &request})
	}
}

// widen adds payments to the targets of half of the requests, and of some leaves nothing
// else.
func (d *drawing) widen(targets []lethe.Target, ids []lethe.TransactionID) []lethe.Target {
	if d.wider.IntN(2) == 0 {
		return targets
	}
	if d.wider.IntN(2) == 0 {
		targets = nil
	}
	for more := 1 + d.wider.IntN(2); more > 0; more-- {
		targets = append(targets, d.aPayment(ids))
	}
	return lethe.Distinct(targets)
}

// aPayment is one that is sent, or now and then one that may not be.
func (d *drawing) aPayment(ids []lethe.TransactionID) lethe.Target {
	var sent []event
	for _, e := range d.events {
		if e.pays {
			sent = append(sent, e)
		}
	}
	if len(sent) > 0 && d.wider.IntN(6) > 0 {
		e := sent[d.wider.IntN(len(sent))]
		return lethe.PaymentBetween(e.names[0], e.names[1])
	}
	source := d.wider.IntN(len(ids))
	return lethe.PaymentBetween(ids[source], ids[(source+1+d.wider.IntN(len(ids)-1))%len(ids)])
}
