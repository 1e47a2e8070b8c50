package upgrade

import (
	"archive/zip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/deletions"
	"lethe/integration/process"
	"lethe/service"
)

// The directory of a release has learntSteps timesteps of the stream, and one erasure.
const (
	learntSteps = 3
	steps       = 4
	answersPath = "predictions.json"
	statusPath  = "status.json"
)

// deployment is a service on the data directory below a folder.
type deployment struct {
	*testing.T
	bin, folder string
	*process.Service
}

func start(t *testing.T, folder string) *deployment {
	bin := process.Build(t)
	return &deployment{t, bin, folder, process.Start(t, bin, filepath.Join(folder, "data"), process.FreePorts(t))}
}

// replay publishes timesteps, and waits until models have learnt from the last.
func (d *deployment) replay(first, last int) {
	d.Helper()
	part := strconv.Itoa(first) + "-" + strconv.Itoa(last)
	d.run("replay", "--dataset", filepath.Join(d.folder, "stream"), "--steps", part, "--brokers", d.Brokers)
	d.Await("the last timestep", func(s service.Status) bool { return int(s.TrainedThrough) == last && s.LagRecords == 0 })
}

// erase has a transaction erased, given its line in the stream, and waits until that is verified.
func (d *deployment) erase(line, verified int) {
	d.Helper()
	file, err := os.Open(filepath.Join(d.folder, "stream", "elliptic_txs_features.csv"))
	require.NoError(d, err)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	require.NoError(d, err)
	d.run("erase", "submit", "--node", rows[line][0], "--request-id", "gdpr-"+strconv.Itoa(line), "--brokers", d.Brokers)
	d.Await("the erasure", func(s service.Status) bool { return s.Erasures[deletions.Verified] == verified })
}

func (d *deployment) run(args ...string) {
	d.Helper()
	result := process.Run(d.T, d.bin, args...)
	require.Zero(d, result.Code, result.Stderr)
}

// predictions are all predictions as the API answers.
func (d *deployment) predictions() []byte {
	return []byte(d.Page("/api/v1/predictions?limit=500"))
}

// directories are those of releases, by path.
func directories(t *testing.T) []string {
	paths, err := filepath.Glob("testdata/*.zip")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	return paths
}

func TestTheDirectoryOfARelease_Continues(t *testing.T) {
	t.Parallel()
	for _, path := range directories(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			folder := unpack(t, path)
			var before service.Status
			require.NoError(t, json.Unmarshal(read(t, folder, statusPath), &before))

			d := start(t, folder)
			d.Await("the same state", func(now service.Status) bool {
				return now.EnsembleHash == before.EnsembleHash && now.Transactions == before.Transactions &&
					now.Timesteps == before.Timesteps && maps.Equal(now.Erasures, before.Erasures)
			})
			requireContains(t, d.predictions(), read(t, folder, answersPath))

			d.replay(steps, steps)
			d.erase(1, 2)
			require.Zero(t, d.Stop(), d.Log())
			data := filepath.Join(folder, "data")
			d.run("verify", "--data-dir", data, "--fresh")
			for _, id := range []string{"gdpr-0", "gdpr-1"} {
				d.run("receipt", "verify", filepath.Join(data, "receipts", id+".json"), "--public-key",
					filepath.Join(data, "keys", "receipt-ed25519.pub.pem"))
			}
		})
	}
}

// requireContains requires that all items of an older page of the API are in a newer one, which may have more fields.
func requireContains(t *testing.T, newer, older []byte) {
	t.Helper()
	type page struct {
		Items []map[string]any `json:"items"`
	}
	var now, before page
	require.NoError(t, json.Unmarshal(newer, &now))
	require.NoError(t, json.Unmarshal(older, &before))
	require.NotEmpty(t, before.Items)
	require.Len(t, now.Items, len(before.Items))
	for i, item := range before.Items {
		for field, value := range item {
			require.Equal(t, value, now.Items[i][field], field)
		}
	}
}

func read(t *testing.T, folder, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, name))
	require.NoError(t, err)
	return data
}

// unpack unpacks an archive for the owner alone.
func unpack(t *testing.T, path string) (folder string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "release")
	archive, err := zip.OpenReader(path)
	require.NoError(t, err)
	defer archive.Close()
	require.NoError(t, os.CopyFS(folder, archive))
	require.NoError(t, filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		mode := fs.FileMode(0o600)
		if err == nil && e.IsDir() {
			mode = 0o700
		}
		return errors.Join(err, os.Chmod(path, mode))
	}))
	return folder
}

// TestMakeTheDirectoryOfARelease makes the archive of this version, if RELEASE names it.
func TestMakeTheDirectoryOfARelease(t *testing.T) {
	version := os.Getenv("RELEASE")
	if version == "" {
		t.Skip("RELEASE names no release")
	}
	folder := t.TempDir()
	made := process.Run(t, process.Build(t), "generate", "--out", filepath.Join(folder, "stream"),
		"--steps", strconv.Itoa(steps), "--nodes-per-step", "40", "--features", "8", "--seed", "7")
	require.Zero(t, made.Code, made.Stderr)
	d := start(t, folder)
	d.replay(1, learntSteps)
	d.erase(0, 1)
	require.NoError(t, os.WriteFile(filepath.Join(folder, answersPath), d.predictions(), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, statusPath), []byte(d.Page("/api/v1/status")), 0o600))
	require.Zero(t, d.Stop(), d.Log())

	require.NoError(t, os.MkdirAll("testdata", 0o750))
	file, err := os.Create(filepath.Join("testdata", version+".zip"))
	require.NoError(t, err)
	archive := zip.NewWriter(file)
	require.NoError(t, archive.AddFS(os.DirFS(folder)))
	require.NoError(t, archive.Close())
	require.NoError(t, file.Close())
}
