package window

import (
	"time"

	"lethe"
)

// place is where a transaction is, or will be: payments may come before their ends.
type place struct {
	at        lethe.Timestep
	pseudonym lethe.Pseudonym
	// suppression is what an erasure calls it.
	suppression lethe.Digest
	// id is empty, and features are nil, until the transaction has arrived.
	id       lethe.TransactionID
	features []float32
	// subjects are what an erasure calls those that it carries.
	subjects []lethe.Digest
	// payers and payees are the other ends of its payments, with what an erasure calls
	// the payment, and the subjects that it carries.
	payers, payees map[*place][]lethe.Digest
	// waits says that it is in a queue, since when a record of it has waited. That is
	// zero for what was there before the window was.
	waits bool
	since time.Time
	// scored says that it has a score, and probability is the last one.
	scored      bool
	probability float64
	gone        bool
}

// here reports whether the transaction has arrived and is still wanted.
func (p *place) here() bool { return p.id != "" && !p.gone }

// neighbours calls fn for every other end of a payment that has arrived. One may come
// twice.
func (p *place) neighbours(fn func(*place)) {
	for _, others := range []map[*place][]lethe.Digest{p.payers, p.payees} {
		for other := range others {
			if other.here() {
				fn(other)
			}
		}
	}
}

// leave takes the place out of its neighbours' payments.
func (p *place) leave() {
	p.gone = true
	for payer := range p.payers {
		delete(payer.payees, p)
	}
	for payee := range p.payees {
		delete(payee.payers, p)
	}
}
