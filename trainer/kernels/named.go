package kernels

import "fmt"

// The names of the kernel sets.
const (
	FMAName      = "fma"
	PortableName = "portable"
)

// Default returns the set fma where the processor has loops for it, else portable. It does not
// depend on installed libraries, so an update of the system cannot change results.
func Default() Set {
	if s, fast := fused(); fast {
		return s
	}
	return Portable()
}

// Named returns the set with a Set.Name. Every processor can run every set, possibly slowly.
func Named(name string) (Set, error) {
	switch name {
	case FMAName:
		s, _ := fused()
		return s, nil
	case PortableName:
		return Portable(), nil
	}
	return Set{}, fmt.Errorf("kernel set %q is not one of %q, %q", name, FMAName, PortableName)
}

// Available lists the names of the sets, the default one first.
func Available() []string {
	if Default().Name == PortableName {
		return []string{PortableName, FMAName}
	}
	return []string{FMAName, PortableName}
}
