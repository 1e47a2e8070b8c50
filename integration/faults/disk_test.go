package faults_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/deletions"
	"lethe/integration/process"
)

const diskTrouble = "disk: not ok: it takes no writes"

// tiny mounts a small disk, which takes rights.
func tiny(t *testing.T, dir, size string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no small disk can be mounted here: %s", out)
	}
	t.Cleanup(func() { exec.Command("umount", "-l", dir).Run() })
}

// The disk that holds the broker's log and all stores is full, and has room again.
func fullDisk(t *testing.T, bin string) {
	dir := filepath.Join(t.TempDir(), "data")
	tiny(t, dir, "60m")
	d := newDeployment(t, bin, dir)
	require.Zero(t, d.replay("1-3").Code)
	d.learnt(3)
	free := fill(t, dir)
	refused := process.Run(t, d.bin, "erase", "submit", "--node", d.node(0, 0), "--request-id", "r1",
		"--brokers", d.Brokers)
	require.Equal(t, 1, refused.Code)
	d.AwaitPage("/readyz", diskTrouble)
	require.NotZero(t, d.replay("4-4").Code)
	free()
	d.AwaitPage("/readyz", "disk: ok")
	d.verified(d.erase("r1", d.node(0, 0)))
	require.Zero(t, d.replay("4-4").Code)
	d.learnt(steps)
	d.audit()
}

// The disk that holds everything is full now and then, also in the middle of compactions.
func nowAndThenFull(t *testing.T, bin string) {
	dir := filepath.Join(t.TempDir(), "data")
	tiny(t, dir, "60m")
	d := newDeployment(t, bin, dir)
	require.Zero(t, d.replay("1-3").Code)
	d.learnt(3)
	waiting := d.erase("r1", d.node(0, 0))
	// A request that finds the disk full is refused at once.
	require.Eventually(t, func() bool { return d.state("r1").State != "" }, patience, time.Millisecond)
	for range 60 {
		free := fill(t, dir)
		time.Sleep(20 * time.Millisecond)
		free()
		time.Sleep(70 * time.Millisecond)
	}
	d.verified(waiting)
	require.Zero(t, d.replay("4-4").Code)
	d.learnt(steps)
	d.audit()
}

// A disk of one role alone is full while a timestep and an erasure come: the role waits,
// for as long as it takes, and loses nothing.
func fullDiskOf(role string) func(t *testing.T, bin string) {
	return func(t *testing.T, bin string) {
		dir := filepath.Join(t.TempDir(), "data")
		tiny(t, filepath.Join(dir, role), "40m")
		d := newDeployment(t, bin, dir)
		require.Zero(t, d.replay("1-3").Code)
		d.learnt(3)
		free := fill(t, filepath.Join(dir, role))
		require.Zero(t, d.replay("4-4").Code)
		d.AwaitPage("/readyz", diskTrouble)
		waiting := d.erase("r1", d.node(1, 0))
		time.Sleep(time.Second)
		require.True(t, d.Running(), d.Log())
		free()
		d.verified(waiting)
		d.AwaitPage("/readyz", "disk: ok")
		d.learnt(steps)
		d.audit()
	}
}

// readOnlyAll is readOnly for a folder and all below it.
func readOnlyAll(t *testing.T, dir string) (undo func()) {
	t.Helper()
	var folders []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			folders = append(folders, path)
		}
		return err
	}))
	return readOnly(t, folders...)
}

// readOnly keeps anything from being made or removed in folders, and returns what
// allows it again.
func readOnly(t *testing.T, folders ...string) (undo func()) {
	t.Helper()
	change := func(flag, mode string) error {
		if os.Geteuid() == 0 { // whom rights do not stop
			return exec.Command("chattr", append([]string{flag}, folders...)...).Run()
		}
		return exec.Command("chmod", append([]string{mode}, folders...)...).Run()
	}
	if err := change("+i", "0555"); err != nil {
		t.Skipf("folders cannot be made read-only here: %v", err)
	}
	var once sync.Once
	undo = func() { once.Do(func() { require.NoError(t, change("-i", "0755")) }) }
	t.Cleanup(undo)
	return undo
}

// The folder of each role, and that of the receipts, becomes read-only while an erasure
// is carried out.
func readOnlyFolders(t *testing.T, bin string) {
	d := newDeployment(t, bin, filepath.Join(t.TempDir(), "data"))
	require.Zero(t, d.replay("1-4").Code)
	d.learnt(steps)
	for at, folder := range []string{"build", "train", "score", "receipts"} {
		undo := readOnlyAll(t, filepath.Join(d.dir, folder))
		waiting := d.erase("read-only-"+folder, d.node(1, at))
		d.AwaitPage("/readyz", diskTrouble)
		require.NotEqual(t, deletions.Verified, d.state("read-only-"+folder).State)
		undo()
		d.verified(waiting)
		d.AwaitPage("/readyz", "disk: ok")
	}
	d.audit()
}

// The broker's folder becomes read-only between the request and its verification: the
// log cannot be cleaned, which the status says, and is once it can be.
func readOnlyBrokerFolder(t *testing.T, bin string) {
	d := newDeployment(t, bin, filepath.Join(t.TempDir(), "data"), "erasure.search_cpu=1")
	require.Zero(t, d.replay("1-2").Code)
	d.learnt(2)
	undo := readOnly(t, filepath.Join(d.dir, "broker"))
	waiting := d.erase("r1", d.node(0, 0))
	require.Eventually(t, func() bool {
		s := d.state("r1")
		return s.State == deletions.Failed && s.Failure == deletions.FailedDisk
	}, 60*time.Second, 100*time.Millisecond, "%s", d.Log())
	undo()
	d.verified(waiting)
	d.audit()
}

// A store in a read-only folder was opened for ever, with a processor kept busy, and
// nothing said.
func readOnlyAtTheStart(t *testing.T, bin string) {
	d := newDeployment(t, bin, filepath.Join(t.TempDir(), "data"))
	require.Zero(t, d.replay("1-2").Code)
	d.learnt(2)
	d.Kill()
	for _, folder := range []string{"build", "train", "score"} {
		undo := readOnlyAll(t, filepath.Join(d.dir, folder))
		s := process.Launch(t, d.bin, d.dir, d.ports, d.settings()...)
		require.Equal(t, 1, s.AwaitEnd())
		require.Contains(t, s.LastLine(), filepath.Join(d.dir, folder))
		undo()
	}
	d.start()
	d.learnt(2)
	d.audit()
}
