package several_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/configs"
	"lethe/deletions"
	"lethe/deletions/receipt"
	"lethe/integration/process"
	"lethe/service"
)

// One that trains hangs. An operator has said that its directory is gone; it is not, and
// still holds what was erased. The receipt does not claim more than was searched: it names that
// folder. A role that the process with the broker plays alone is not played twice.
func TestASecondInstanceStopsOneOfTheTwo(t *testing.T) {
	t.Parallel()
	d := newDeployment(t)
	d.host()
	d.scores = d.launch(roleScore, roleScore, d.secret)
	d.training = d.launch(roleTrain, roleTrain, d.secret)
	d.replay("1-3", 3)
	second := d.launch(roleBuild, "second", d.secret)
	require.Equal(t, 1, second.AwaitEnd())
	require.Contains(t, second.LastLine(), "--take-over")

	d.training.Pause()
	hung := d.training
	d.training = d.launch(roleTrain, "third", d.secret, "--take-over")
	d.replay("4-4", steps)
	d.verified("gdpr-1", firstNode(t, d))
	d.namesTheHung("gdpr-1")
	hung.Resume()
	require.Equal(t, 1, hung.AwaitEnd())
	require.Contains(t, hung.LastLine(), "this data directory was struck off: train")

	// The one that took over starts again, without the flag: it is still named.
	require.Zero(t, d.training.Stop(), d.training.Log())
	d.training = d.launch(roleTrain, "third", d.secret)
	d.verified("gdpr-2", secondNode(t, d))
	d.namesTheHung("gdpr-2")
}

// Two share the training. One is killed: the other goes on with what it had, and no erasure is
// verified before the killed one has come back and searched its folder too, which it need not do
// once it is struck off.
func TestTwoProcessesShareTheTraining(t *testing.T) {
	t.Parallel()
	d := newDeployment(t)
	d.host()
	d.scores = d.launch(roleScore, roleScore, d.secret)
	d.training = d.launch(roleTrain, roleTrain, d.secret)
	second := d.launch(roleTrain, "second", d.secret)
	for _, s := range []*process.Service{d.training, second} {
		s.AwaitLog("train: took over a partition of slices.v1")
	}
	d.replay("1-3", 3)
	second.Kill()
	d.replay("4-4", steps)

	waiting := d.begin("gdpr-1", firstNode(t, d))
	d.build.Await("the graphs to be rewritten", func(s service.Status) bool {
		return s.Erasures[deletions.Retraining] == 1
	})
	time.Sleep(3 * time.Second)
	require.Equal(t, deletions.Retraining, d.state("gdpr-1"))
	second = d.launch(roleTrain, "second", d.secret)
	r := waiting.Wait(d.build, d.scores, d.training, second)
	require.Zero(t, r.Code, r.Stderr)
	require.Equal(t, slices.Sorted(slices.Values([]string{d.identity(roleTrain), d.identity("second")})),
		d.searchedFolders("gdpr-1"))

	second.Kill()
	struck := process.Run(t, d.bin, "members", "strike", d.identity("second")[:8], "--brokers", d.build.Brokers,
		"--set", "secret_file="+d.secret)
	require.Zero(t, struck.Code, struck.Stderr)
	d.verified("gdpr-2", secondNode(t, d))
	require.Equal(t, []string{d.identity(roleTrain)}, d.searchedFolders("gdpr-2"))
	gone := d.receipt("gdpr-2").Gone
	require.Len(t, gone, 1)
	require.Equal(t, d.identity("second"), gone[0].Instance)
	require.True(t, gone[0].Struck)
	second = d.launch(roleTrain, "second", d.secret)
	require.Equal(t, 1, second.AwaitEnd())
	require.Contains(t, second.LastLine(), "this data directory was struck off: train")

	listed := process.Run(t, d.bin, "members", "list", "--brokers", d.build.Brokers, "--set", "secret_file="+d.secret)
	require.Zero(t, listed.Code, listed.Stderr)
	require.Regexp(t, `(?m)^ *train +`+d.identity(roleTrain)+` +member`, listed.Stdout)
	require.Regexp(t, `(?m)^ *train +`+d.identity("second")+` +struck off`, listed.Stdout)
}

// identity is that of a data directory.
func (d *deployment) identity(dir string) string {
	d.t.Helper()
	identity, err := os.ReadFile(filepath.Join(d.dir, dir, "instance"))
	require.NoError(d.t, err)
	return strings.TrimSpace(string(identity))
}

// searchedFolders are the instances whose folders of train a receipt says were searched.
func (d *deployment) searchedFolders(id string) (instances []string) {
	d.t.Helper()
	for _, place := range d.receipt(id).Searched {
		if place.Place == roleTrain {
			instances = append(instances, place.Instance)
		}
	}
	return instances
}

// verified erases a transaction.
func (d *deployment) verified(id, node string) {
	d.t.Helper()
	erased := d.erase(id, node)
	require.Zero(d.t, erased.Code, erased.Stderr)
	require.Contains(d.t, erased.Stdout, `"verified"`)
}

// namesTheHung checks that a receipt says whose folder was not searched.
func (d *deployment) namesTheHung(id string) {
	d.t.Helper()
	identity, err := os.ReadFile(filepath.Join(d.dir, roleTrain, "instance"))
	require.NoError(d.t, err)
	r := d.receipt(id)
	require.Len(d.t, r.Gone, 1)
	require.Equal(d.t, roleTrain, r.Gone[0].Role)
	require.Contains(d.t, string(identity), r.Gone[0].Instance)
	require.WithinDuration(d.t, time.Now(), r.Gone[0].DeclaredAt, time.Hour)
	require.Contains(d.t, r.MayRemain[len(r.MayRemain)-1], "declared that directory gone for good")
}

// receipt reads and checks the receipt of a request.
func (d *deployment) receipt(id string) receipt.Receipt {
	d.t.Helper()
	signed, err := os.ReadFile(filepath.Join(service.ReceiptsDir(filepath.Join(d.dir, roleBuild)), id+".json"))
	require.NoError(d.t, err)
	key, err := configs.ReadPublicKey(filepath.Join(d.dir, roleBuild, "keys", "receipt-ed25519.pub.pem"))
	require.NoError(d.t, err)
	r, v, err := receipt.Verify(signed, receipt.Pinned(key))
	require.NoError(d.t, err)
	require.True(d.t, v.Valid, "%v", v.Problems)
	return r
}

// The plain case: the one that plays train hangs while an erasure comes. Nothing is
// verified as long as its folder was not searched, and the erasure is finished once it
// goes on.
func TestNothingIsVerifiedWhileTrainHangs(t *testing.T) {
	t.Parallel()
	d := newDeployment(t)
	d.host()
	d.scores = d.launch(roleScore, roleScore, d.secret)
	d.training = d.launch(roleTrain, roleTrain, d.secret)
	d.replay("1-4", steps)
	d.training.Pause()
	waiting := d.begin("gdpr-1", firstNode(t, d))
	d.build.Await("the graphs to be rewritten", func(s service.Status) bool {
		return s.Erasures[deletions.Retraining] == 1
	})
	time.Sleep(5 * time.Second)
	require.Equal(t, deletions.Retraining, d.state("gdpr-1"))
	d.training.Resume()
	r := waiting.Wait(d.build, d.scores, d.training)
	require.Zero(t, r.Code, r.Stderr)
	require.Contains(t, r.Stdout, `"verified"`)
}

// begin submits an erasure and returns the command that waits for its end.
func (d *deployment) begin(id, node string) *process.Background {
	d.t.Helper()
	return process.Go(d.t, 2*time.Minute, d.bin, "erase", "submit", "--node", node, "--request-id", id, "--wait", "--json",
		"--brokers", d.build.Brokers)
}

// state is where an erasure is.
func (d *deployment) state(id string) deletions.State {
	d.t.Helper()
	r := process.Run(d.t, d.bin, "erase", "status", id, "--json", "--brokers", d.build.Brokers)
	require.Zero(d.t, r.Code, r.Stderr)
	return stateIn(d.t, r.Stdout)
}

func stateIn(t *testing.T, status string) deletions.State {
	t.Helper()
	var s deletions.Status
	require.NoError(t, json.Unmarshal([]byte(status), &s), status)
	return s.State
}
