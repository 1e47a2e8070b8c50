package layers

// Draw says what one keyed draw is for: an element of a matrix, or an edge and a
// head of an attention layer.
type Draw struct {
	// Site numbers the layers of the model that draw.
	Site uint64
	// Row and Other are positions in the batch; Other is the source of an edge.
	Row, Other int
	// Column is that of an element, or the head.
	Column int
}

// Replacement takes the place of keyed draws, to compare with masks and samples
// that were drawn elsewhere. Unset fields leave the keyed draws.
type Replacement struct {
	// Keep reports whether dropout keeps a value.
	Keep func(Draw) bool
	// Pairs returns the pairs of an attention loss.
	Pairs func(site uint64) []Pair
}

// mixKey is the finaliser of SplitMix64.
func mixKey(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// rowKey keys the draws of one layer for a row by the step and the row's
// pseudonym.
func (w *Workspace) rowKey(site uint64, row int) uint64 {
	return mixKey(mixKey(w.Key+site*0x9e3779b97f4a7c15) ^ w.Batch.Keys[row])
}

// pairKey keys the draws for an ordered pair of rows.
func (w *Workspace) pairKey(site uint64, row, other int) uint64 {
	return mixKey(w.rowKey(site, row) + 0x9e3779b97f4a7c15 ^ w.Batch.Keys[other])
}

// uniform is the number in [0, 1) that a key draws for a column.
func uniform(key uint64, column int) float32 {
	return float32(mixKey(key+uint64(column+1)*0x9e3779b97f4a7c15)>>40) * 0x1p-24
}

// site numbers a layer that draws.
func (b *Builder) site() uint64 {
	b.sites++
	return b.sites - 1
}
