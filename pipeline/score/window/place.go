package window

import (
	"time"

	"lethe"
)

// place is a transaction, or the unknown end of a payment: payments may arrive before their transactions.
type place struct {
	at        lethe.Timestep
	pseudonym lethe.Pseudonym
	// suppression is the keyed hash under which an erasure suppresses it.
	suppression lethe.Digest
	// id is empty, and features are nil, until the transaction has arrived.
	id       lethe.TransactionID
	features []float32
	// subjects are the keyed hashes of its subjects.
	subjects []lethe.Digest
	// payers and payees are the other ends of its payments, with the keyed hashes of the payment and of its subjects.
	payers, payees map[*place][]lethe.Digest
	// waits means that it is queued, since the time of the record that caused it; zero if there is no such record.
	waits bool
	since time.Time
	// scored means that it has a score; probability is the latest one.
	scored      bool
	probability float64
	gone        bool
}

// here reports whether the transaction has arrived and was not removed.
func (p *place) here() bool { return p.id != "" && !p.gone }

// neighbours calls fn for every arrived transaction at the other end of a payment, twice if they paid each other.
func (p *place) neighbours(fn func(*place)) {
	for _, others := range []map[*place][]lethe.Digest{p.payers, p.payees} {
		for other := range others {
			if other.here() {
				fn(other)
			}
		}
	}
}

// leave removes the place from its neighbours' payments.
func (p *place) leave() {
	p.gone = true
	for payer := range p.payers {
		delete(payer.payees, p)
	}
	for payee := range p.payees {
		delete(payee.payers, p)
	}
}
