package service_test

import (
	"testing"
	"time"

	"lethe/configs"
	"lethe/service/servicetest"
)

// fixedTime is when requests of the tests were made.
var fixedTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// running is a service that runs until Stop.
type running struct{ *servicetest.Running }

// start runs a service.
func start(t testing.TB, c configs.Config) *running {
	t.Helper()
	return startAt(t, c, nil)
}

// startAt is start with a clock, or that of the machine if it is nil.
func startAt(t testing.TB, c configs.Config, now func() time.Time) *running {
	t.Helper()
	return &running{servicetest.StartAt(t, c, now)}
}
