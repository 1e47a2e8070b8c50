package several_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/deletions"
	"lethe/integration/process"
	"lethe/service"
)

// Two processes play the graphs. The leader is killed in the midst of the stream, and the other one in an erasure: each
// time the standby goes on, and the models are those that one process makes.
func TestStandbysOfGraphsGoOn_LeaderKilled_AsOneProcess(t *testing.T) {
	t.Parallel()
	alone := newDeployment(t)
	alone.host()
	alone.scores = alone.launch(roleScore, roleScore, alone.secret)
	alone.training = alone.launch(roleTrain, roleTrain, alone.secret)
	alone.replay("1-4", steps)
	learnt := func(s service.Status) bool { return int(s.TrainedThrough) == steps }
	before := alone.scores.Await("the models", learnt).EnsembleHash
	alone.verified("gdpr-1", firstNode(t, alone))
	after := alone.scores.Await("the models", learnt).EnsembleHash
	require.NotEqual(t, before, after)

	d := newDeployment(t)
	d.build = process.Start(t, d.bin, filepath.Join(d.dir, "broker"), d.ports, d.args("view", d.secret)...)
	start := func(dir string) *process.Service {
		return d.launch(roleBuild, dir, d.secret, "--set", "signing_key_file="+filepath.Join(d.dir, "receipts.pem"))
	}
	one := start("one")
	one.AwaitLog("graphs: continues as the leader")
	two := start("two")
	two.AwaitLog("graphs: another process leads")
	d.scores = d.launch(roleScore, roleScore, d.secret)
	d.training = d.launch(roleTrain, roleTrain, d.secret)
	d.replay("1-2", 2)
	one.Kill()
	two.AwaitLog("graphs: continues as the leader")
	one = start("one")
	one.AwaitLog("graphs: another process leads")
	d.replay("3-4", steps)
	require.Equal(t, before, d.scores.Await("the models", learnt).EnsembleHash)

	erasure := d.begin("gdpr-1", firstNode(t, d))
	two.Await("an erasure under way", func(s service.Status) bool {
		return s.Erasures[deletions.Received] == 0 && len(s.Erasures) > 0
	})
	two.Kill()
	one.AwaitLog("graphs: continues as the leader")
	two = start("two")
	r := erasure.Wait(d.build, one, two, d.scores, d.training)
	require.Zero(t, r.Code, r.Stderr)
	require.Contains(t, r.Stdout, `"verified"`)
	require.Equal(t, after, d.scores.Await("the models", learnt).EnsembleHash)
}
