package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// ofCore is the time over which a part of a processor is counted: short, so that nobody waits long for the rest.
const ofCore = 10 * time.Millisecond

// Limit gives a running process a part of a processor and no more, as if it had one of its own that is slower,
// until the test ends: what other processes take then slows it no longer. It wants control groups that may
// be written, which is for root on most machines, and skips the test without.
func (s *Service) Limit(part float64) {
	s.t.Helper()
	quota := strconv.Itoa(int(part * float64(ofCore.Microseconds())))
	period := strconv.FormatInt(ofCore.Microseconds(), 10)
	name := fmt.Sprintf("lethe-test-%d", s.PID())
	groups := filepath.Join("/sys/fs/cgroup", name)
	settings := [][2]string{{"cpu.max", quota + " " + period}}
	if first, err := os.Stat("/sys/fs/cgroup/cpu"); err == nil && first.IsDir() { // version 1
		groups = filepath.Join("/sys/fs/cgroup/cpu", name)
		settings = [][2]string{{"cpu.cfs_period_us", period}, {"cpu.cfs_quota_us", quota}}
	}
	if err := os.Mkdir(groups, 0o755); err != nil {
		s.t.Skipf("no control group can be made: %v", err)
	}
	removeAtEnd(s.t, groups)
	for _, set := range append(settings, [2]string{"cgroup.procs", strconv.Itoa(s.PID())}) {
		if err := os.WriteFile(filepath.Join(groups, set[0]), []byte(set[1]), 0); err != nil {
			s.t.Skipf("control groups limit no processors here: %v", err)
		}
	}
}

// removeAtEnd removes a control group once its process has ended, which must be before the test does.
func removeAtEnd(t testing.TB, group string) {
	t.Cleanup(func() {
		if err := os.Remove(group); err != nil {
			t.Logf("a control group is left: %v", err)
		}
	})
}
