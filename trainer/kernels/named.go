package kernels

import (
	"fmt"
)

// The names of the kernel sets. An OpenBLAS is named with its version and the
// processor that it is tuned for, since its bits depend on both.
const (
	FMAName      = "fma"
	PortableName = "portable"
)

// Default returns the set FMA where the processor has loops for it, else
// Portable. It never depends on a library that is or is not installed.
func Default() Set {
	if l := bestLoops(); l != (plainLoops{}) {
		return FMA{l}
	}
	return Portable{}
}

// Named returns the named set, or an error if there is no such set. Every
// processor can run FMA, if slowly.
func Named(name string) (Set, error) {
	switch name {
	case "":
		return Default(), nil
	case FMAName:
		return FMA{bestLoops()}, nil
	case PortableName:
		return Portable{}, nil
	}
	return nil, fmt.Errorf("kernel set %q is none of %q, %q", name, FMAName, PortableName)
}

// Available lists the names of the sets that this machine can run, the default
// one first.
func Available() []string {
	first := Default().Name()
	all := []string{first}
	for _, name := range []string{FMAName, PortableName} {
		if name != first {
			all = append(all, name)
		}
	}
	return all
}
