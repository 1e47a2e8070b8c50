package coarsen

// tally sums weights by key in a table proportional to the number of keys, so that it stays in
// the processor's cache.
type tally struct {
	keys, sums []uint32
	// used lists the occupied slots.
	used []uint32
	mask uint32
}

// reset empties the tally and resizes it for a number of keys.
func (t *tally) reset(keys int) {
	for _, at := range t.used {
		t.sums[at] = 0
	}
	t.used = t.used[:0]
	size := uint32(8)
	for int(size) < 2*keys {
		size *= 2
	}
	if int(size) > len(t.keys) {
		t.keys, t.sums = make([]uint32, size), make([]uint32, size)
	}
	t.mask = size - 1
}

// place returns the slot of a key, occupied or not.
func (t *tally) place(key uint32) uint32 {
	at := key * 0x9e3779b1 >> 7 & t.mask
	for t.sums[at] != 0 && t.keys[at] != key {
		at = (at + 1) & t.mask
	}
	return at
}

// add adds a positive weight.
func (t *tally) add(key, weight uint32) {
	at := t.place(key)
	if t.sums[at] == 0 {
		t.keys[at] = key
		t.used = append(t.used, at)
	}
	t.sums[at] += weight
}

// of returns the sum of a key.
func (t *tally) of(key uint32) uint32 { return t.sums[t.place(key)] }
