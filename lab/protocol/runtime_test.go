package protocol_test

import (
	"time"

	"lethe/internal/cputime"
	"lethe/lab/protocol"
	"lethe/trainer/kernels"
)

// runtimeOf is a runtime of so many workers.
func runtimeOf(workers int) protocol.Runtime {
	return protocol.Runtime{Kernels: kernels.Default(), Workers: workers, Now: time.Now, Used: cputime.Used}
}
