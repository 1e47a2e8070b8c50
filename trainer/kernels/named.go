package kernels

import (
	"fmt"
	"strings"
)

// The names of the kernel sets. The set of OpenBLAS calls itself by its version
// and the processor it is tuned for too, as in openblas-0.3.21-skylakex, since
// its bits depend on both.
const (
	FMAName      = "fma"
	PortableName = "portable"
	OpenBLASName = "openblas"
)

// Default returns the set FMA where the processor has loops for it, else
// Portable. It never depends on a library that is or is not installed, so an
// update of the system cannot change what the next start computes.
func Default() Set {
	if l := bestLoops(); l != (plainLoops{}) {
		return FMA{l}
	}
	return Portable{}
}

// Named returns the named set, and the default one for no name. It takes what
// Set.Name returned: every processor can run FMA, if slowly, but an OpenBLAS
// must be found and be the one that was named. OpenBLASName alone stands for
// whichever OpenBLAS is found.
func Named(name string) (Set, error) {
	switch {
	case name == "":
		return Default(), nil
	case name == FMAName:
		return FMA{bestLoops()}, nil
	case name == PortableName:
		return Portable{}, nil
	case name == OpenBLASName || strings.HasPrefix(name, OpenBLASName+"-"):
		k, err := newOpenBLAS()
		if err != nil {
			return nil, fmt.Errorf("kernel set %q: %w", name, err)
		}
		if name != OpenBLASName && name != k.Name() {
			return nil, fmt.Errorf("kernel set %q: this machine has %q", name, k.Name())
		}
		return k, nil
	}
	return nil, fmt.Errorf("kernel set %q is none of %q, %q, %q", name, FMAName, PortableName, OpenBLASName)
}

// Available lists the names of the sets that this machine can run, the default
// one first.
func Available() []string {
	all := []string{Default().Name()}
	for _, name := range []string{FMAName, PortableName, OpenBLASName} {
		if k, err := Named(name); err == nil && k.Name() != all[0] {
			all = append(all, k.Name())
		}
	}
	return all
}

// Detail names the instructions that a set uses here, or is empty. They reach no
// bit of a result.
func Detail(k Set) string {
	if d, ok := k.(interface{ Detail() string }); ok {
		return d.Detail()
	}
	return ""
}
