package service_test

import (
	"flag"
	"os"
	"testing"
)

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
