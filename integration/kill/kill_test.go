package kill_test

import (
	"testing"

	"lethe/integration/process"
)

// TestKill is one test, so that the program is built once.
func TestKill(t *testing.T) {
	bin := process.Build(t)
	for name, test := range map[string]func(*testing.T, string){
		"replay": testReplay, "erasure": testErasure, "ledger": testLedger,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, bin)
		})
	}
}
