package service_test

import (
	"flag"
	"os"
	"testing"
	"time"

	"lethe/configs"
	"lethe/service/servicetest"
)

// fixedTime is when requests of the tests were made.
var fixedTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// running is a service that runs until Stop.
type running = servicetest.Running

// start runs a service.
func start(t testing.TB, c configs.Config) *running {
	t.Helper()
	return servicetest.Start(t, c)
}

// TestMain lets more tests run side by side than there are processors: most of
// the time a service here waits for its log to be compacted.
func TestMain(m *testing.M) {
	flag.Parse()
	if parallel := flag.Lookup("test.parallel"); parallel.Value.String() == parallel.DefValue {
		if err := flag.Set(parallel.Name, "6"); err != nil {
			panic("service_test: the testing package has no flag test.parallel")
		}
	}
	os.Exit(m.Run())
}
