package swapstore

// DeletePrefix removes every key that has a prefix, in one step however many there are. It is for the writers that
// Apply gives to its function; others return ErrOrder.
func DeletePrefix(w Writer, prefix []byte) error {
	b, is := w.(batchWriter)
	if !is {
		return ErrOrder
	}
	b.changed.add(prefix)
	b.touched.prefix(prefix)
	return b.b.DeleteRange(prefix, prefixEnd(prefix), nil)
}
