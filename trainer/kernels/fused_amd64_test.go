package kernels

import "golang.org/x/sys/cpu"

// allFused returns the sets of fused multiply-adds in assembly that this processor
// can run.
func allFused() []Set {
	var all []Set
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		all = append(all, fusedAVX2())
	}
	if s, _ := fused(); s == fusedAVX512() {
		all = append(all, s)
	}
	return all
}
