package events

// Listener receives events, which are values of the types of this package. It is called from several goroutines at
// once, synchronously with the work: it must be quick and must not block.
type Listener func(event any)

// On returns a listener to the events of one type.
func On[E any](receive func(E)) Listener {
	return func(event any) {
		if e, is := event.(E); is {
			receive(e)
		}
	}
}

// Tee returns a listener that passes every event to all listeners in order. Some or all of them may be nil.
func Tee(listeners ...Listener) Listener {
	return func(event any) {
		for _, l := range listeners {
			if l != nil {
				l(event)
			}
		}
	}
}
