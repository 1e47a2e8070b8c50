package swapstore

// DeletePrefix deletes every key with a prefix, at a cost independent of their number. It works only with the
// writers that Apply passes to its function; others return ErrOrder.
func DeletePrefix(w Writer, prefix []byte) error {
	b, is := w.(*batchWriter)
	if !is {
		return ErrOrder
	}
	b.touched.prefix(prefix)
	return b.b.DeleteRange(prefix, prefixEnd(prefix), nil)
}
