// Package leakcheck fails a package's tests if they leave goroutines behind.
package leakcheck

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is how long goroutines may take to end. Interrupted connections need more time on a
// busy machine than goleak allows.
const patience = 10 * time.Second

// Main runs the tests of a package and exits. Call it from TestMain.
func Main(m *testing.M) {
	code := m.Run()
	if code != 0 {
		os.Exit(code)
	}
	err := goleak.Find()
	for deadline := time.Now().Add(patience); err != nil && time.Now().Before(deadline); err = goleak.Find() {
		time.Sleep(10 * time.Millisecond)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "the tests left goroutines behind:", err)
		os.Exit(1)
	}
	os.Exit(0)
}
