package silence_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"lethe/integration/process"
	"lethe/service/waiting"
)

// poll is how often a surface is looked at.
const poll = 200 * time.Millisecond

// within waits until something holds, for as long as was promised.
func (d *deployment) within(what string, holds func() bool) {
	d.t.Helper()
	began := time.Now()
	for !holds() {
		if time.Since(began) > promise {
			status, _ := d.Status()
			d.t.Fatalf("%s: not within %s; waiting for %+v\n%s\n%s", what, promise, status.Waiting, d.Page("/readyz"), d.Log())
		}
		time.Sleep(poll)
	}
}

// tells returns what the status tells of a stop.
func (d *deployment) tells(s stop) (found waiting.Wait, told bool) {
	status, _ := d.Status()
	for _, w := range status.Waiting {
		if w.Cause == s.cause && strings.Contains(w.Message, s.says) {
			return w, true
		}
	}
	return found, false
}

// told waits until a stop is told, and looks at every surface.
func (d *deployment) told(s stop) {
	d.t.Helper()
	d.within(s.name+" is told", func() bool { _, told := d.tells(s); return told })
	d.within(s.name+": readiness", func() bool { return d.ready() != s.closed })
	require.Contains(d.t, d.Page("/metrics"), fmt.Sprintf(`lethe_waiting{cause="%s"} 1`, s.cause), s.name)
	require.NotEmpty(d.t, d.lines("cause="+string(s.cause)), s.name)
	w, told := d.tells(s)
	require.True(d.t, told, "%s: told, and then not: %s", s.name, d.Log())
	require.NotEmpty(d.t, w.Do, s.name)
	shown := process.Run(d.t, d.bin, "status", "--url", d.URL)
	require.Contains(d.t, shown.Stdout, s.says, s.name)
	found := d.doctor()
	exit := 1
	if w.Decided() {
		exit = 0 // a hold is a decision, and no fault
	}
	require.Equal(d.t, exit, found.Code, "%s: %s", s.name, found.Stdout)
	require.Contains(d.t, found.Stdout, s.says, s.name)
}

// doctor has the deployment examined.
func (d *deployment) doctor() process.Result {
	d.t.Helper()
	address, args := strings.TrimPrefix(d.URL, "http://"), []string{"doctor", "--data-dir", d.dir}
	return process.Run(d.t, d.bin, append(append(args, "--http-address", address), d.args...)...)
}

// over waits until a stop is no longer told.
func (d *deployment) over(s stop) {
	d.t.Helper()
	d.within(s.name+" is over", func() bool { _, told := d.tells(s); return !told })
	d.within(s.name+": readiness once it is over", d.ready)
}

// logsOnceAMinute looks through the log: a cause that lasts is named once a minute at most.
func (d *deployment) logsOnceAMinute() {
	d.t.Helper()
	line := regexp.MustCompile(`^time=(\S+) .*msg="?(waiting: |no longer waited for).* cause=(\S+)`)
	last := make(map[string]time.Time)
	for text := range strings.Lines(d.Log()) {
		m := line.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		at, err := time.Parse(time.RFC3339Nano, m[1])
		require.NoError(d.t, err)
		if before, named := last[m[3]]; named && m[2] == "waiting: " {
			require.Greater(d.t, at.Sub(before), 59*time.Second, text)
		}
		if last[m[3]] = at; m[2] != "waiting: " {
			delete(last, m[3])
		}
	}
}

// alertExpression is that of an alert rule.
func alertExpression(t *testing.T, alert string) string {
	t.Helper()
	text, err := os.ReadFile("../../deploy/prometheus/rules.yml")
	require.NoError(t, err)
	var rules struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &rules))
	for _, r := range rules.Groups[0].Rules {
		if r.Alert == alert {
			return r.Expr
		}
	}
	t.Fatalf("no alert %s", alert)
	return ""
}
