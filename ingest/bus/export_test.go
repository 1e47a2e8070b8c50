package bus

// Extent is one more than the highest chunk index of the key that may still be
// on the topic: what to retract when the payload goes, or shrinks.
func (a *Assembler) Extent(key string) int { return a.extent[key] }
