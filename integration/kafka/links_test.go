package kafka_test

import (
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"lethe/deletions"
	"lethe/integration/process"
	"lethe/service"
)

// link is a way to the broker that can be disturbed. Processes that are given its address use it for all.
type link struct {
	t     *testing.T
	proxy *toxiproxy.Proxy
}

// newLinks opens the ways that kafka.sh has listeners for, or skips the test without a broker.
func newLinks(t *testing.T) (links []*link) {
	t.Helper()
	if outside.links == "" {
		t.Skip("no broker: run make kafka-test")
	}
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	for _, broker := range strings.Split(outside.links, ",") {
		host, text, err := net.SplitHostPort(broker)
		require.NoError(t, err)
		port, err := strconv.Atoi(text)
		require.NoError(t, err)
		// The broker tells its clients this port.
		told := net.JoinHostPort(host, strconv.Itoa(port+1))
		l := &link{t, toxiproxy.NewProxy(server, told, told, broker)}
		require.NoError(t, l.proxy.Start())
		t.Cleanup(l.proxy.Stop)
		links = append(links, l)
	}
	return links
}

// disturbed has toxics of toxiproxy work on what goes both ways.
func (l *link) disturbed(toxics ...string) {
	l.t.Helper()
	for _, toxic := range toxics {
		for _, stream := range []string{"upstream", "downstream"} {
			_, err := l.proxy.Toxics.AddToxicJson(strings.NewReader(`{"stream": "` + stream + `", ` + toxic + `}`))
			require.NoError(l.t, err)
		}
	}
}

func (l *link) undisturbed() { l.proxy.Toxics.ResetToxics(l.t.Context()) }

const (
	late   = `"type": "latency", "attributes": {"latency": 100, "jitter": 50}`
	narrow = `"type": "bandwidth", "attributes": {"rate": 500}`
	// lost has whatever is sent never arrive, while connections stay.
	lost = `"type": "timeout", "attributes": {"timeout": 0}`
)

// One process of each role that has a leader reaches the broker by a way of its own. That of the leaders
// becomes slow, and is cut later, without a word, while the stream goes on and an erasure is asked for: the others take
// over, nobody ends, and the erasure waits for the directory that is out of reach. In the end all is as without it.
func TestLinksAreSlowAndCut(t *testing.T) {
	l := newLab(t)
	links := newLinks(t)
	erased, _ := l.subjects(t)
	want := l.erasedAfter(t, 4, string(erased))
	d := l.outside(t)
	root := t.TempDir()
	var all []*process.Service
	start := func(by *link, role, name string) *process.Service {
		s := process.StartOutside(t, d.bin, filepath.Join(root, name), process.FreePorts(t), by.proxy.Listen,
			append(d.settings(), "--roles", role)...)
		all = append(all, s)
		return s
	}
	build, score := start(links[0], "build", "build"), start(links[0], "score", "score")
	build.AwaitLog("graphs: this process leads")
	score.AwaitLog("score: this process leads")
	otherBuild, otherScore := start(links[1], "build", "other build"), start(links[1], "score", "other score")
	otherBuild.AwaitLog("graphs: another process leads")
	otherScore.AwaitLog("score: another process leads")
	start(links[1], "train", "train")
	d.replayParts(1, 1)
	score.Await("the first part", l.learnt(1))

	links[0].disturbed(late, narrow)
	d.replayParts(2, 3)
	otherScore.Await("what came over a slow link", l.learnt(3))
	links[0].undisturbed()

	links[0].disturbed(lost)
	cut := time.Now()
	otherBuild.AwaitLog("graphs: this process leads")
	otherScore.AwaitLog("score: this process leads")
	t.Logf("both have taken over %.1f s after the cut", time.Since(cut).Seconds())
	build.AwaitPage("/readyz", "not ok")
	score.AwaitPage("/readyz", "not ok")
	d.replayParts(4, 4)
	otherScore.Await("the fourth part", l.learnt(4))
	erasure := d.erase("cut", string(erased))
	accepted := func(s service.Status) bool { return s.Erasures[deletions.Accepted] == 1 }
	otherBuild.Await("the erasure", accepted)
	time.Sleep(5 * time.Second)
	status, ok := otherBuild.Status()
	require.True(t, ok)
	require.True(t, accepted(status), "a directory that holds it is out of reach: %v", status.Erasures)

	links[0].undisturbed()
	verified(t, erasure, all...)
	d.replayParts(5, 6)
	require.Equal(t, want.hash, otherScore.Await("the end of the stream", l.learnt(6)).EnsembleHash)
	equalPredictions(t, want.predictions, d.predictions())
	require.Equal(t, want.slices, d.slices())
	for _, s := range all {
		s.AwaitPage("/readyz", "\nok")
	}
	for _, s := range all {
		require.Zero(t, s.Stop(), s.Log())
	}
}
