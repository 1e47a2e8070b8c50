package dataset

import (
	"strconv"

	"lethe"
)

// Ids look like Elliptic's: nine digits, in an order without meaning. idPrime is the largest prime
// below 9e8, so that every id has nine digits.
const (
	idFirst = 100_000_000
	idPrime = 899_999_963
)

// idSequence maps the k-th transaction of the stream to idFirst + (a*k + b) mod idPrime, which is
// one to one because idPrime is prime and a is not 0: ids are unique without storing those of other
// steps.
type idSequence struct{ factor, offset uint64 }

func newIDSequence(seed uint64) idSequence {
	d := lethe.NewDraw(seed, "generate/ids")
	return idSequence{factor: uint64(1 + d.IntN(idPrime-1)), offset: uint64(d.IntN(idPrime))}
}

// id returns the id of node i of a timestep; all timesteps have n nodes.
func (m idSequence) id(t lethe.Timestep, i, n int) lethe.TransactionID {
	k := uint64(t-1)*uint64(n) + uint64(i)
	return lethe.TransactionID(strconv.FormatUint(idFirst+(m.factor*k+m.offset)%idPrime, 10))
}
