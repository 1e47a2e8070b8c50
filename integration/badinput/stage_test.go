package badinput_test

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/dataset"
	"lethe/integration/process"
	"lethe/service"
)

// stage holds what the commands of the transcript are given: datasets and files
// that are wrong in one way each, and a service that is up.
type stage struct {
	dir, bin string
	ports    process.Ports
	service  *process.Service
	// erased is a transaction that the service has forgotten, spare is another.
	erased, spare string
}

// newStage builds the stage in a folder that others may enter, which t.TempDir
// does not give, because one command runs without the rights of root.
func newStage(t *testing.T) *stage {
	t.Helper()
	dir, err := os.MkdirTemp("", "lethe-badinput-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755)) //nolint:gosec // see above
	s := &stage{dir: dir, bin: filepath.Join(dir, "lethe"), ports: process.FreePorts(t)}
	require.NoError(t, os.Rename(process.Build(t), s.bin))
	require.NoError(t, os.Rename(process.BuildCommand(t, "lethe-lab"), filepath.Join(dir, "lethe-lab")))
	s.datasets(t)
	s.write(t, "junk", "this is not one of ours\n")
	s.write(t, "junk.npz", "this is no archive\n")
	s.write(t, "unknown.yaml", "trainer:\n  hiden: 3\nkafka:\n  brokres: [a:9092]\n")
	s.write(t, "broken.yaml", "trainer: [\n")
	s.write(t, "bounds.yaml", "partition:\n  shards: 0\n")
	require.NoError(t, os.Mkdir(s.path("empty"), 0o755))    //nolint:gosec // see above
	require.NoError(t, os.Mkdir(s.path("readonly"), 0o555)) //nolint:gosec // see above
	s.play(t)
	s.receipts(t)
	return s
}

func (s *stage) path(name ...string) string {
	return filepath.Join(append([]string{s.dir}, name...)...)
}

func (s *stage) write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(s.path(name)), 0o755))  //nolint:gosec // see newStage
	require.NoError(t, os.WriteFile(s.path(name), []byte(text), 0o644)) //nolint:gosec // see newStage
}

func (s *stage) read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(s.path(name))
	require.NoError(t, err)
	return string(text)
}

// datasets writes a good dataset, and one for everything that can be wrong.
func (s *stage) datasets(t *testing.T) {
	t.Helper()
	options := dataset.GenerateDefaults()
	options.Steps, options.NodesPerStep, options.Features, options.Seed = 3, 30, 4, 5
	stream, err := dataset.Generate(options)
	require.NoError(t, err)
	s.erased, s.spare = string(stream.Steps[1].Transactions[0].ID), string(stream.Steps[1].Transactions[1].ID)
	require.NoError(t, dataset.WriteElliptic(s.path("good"), stream, false))
	all := []string{dataset.FeaturesFile, dataset.EdgesFile, dataset.ClassesFile}
	variant := func(name, file string, change func(string) string) {
		for _, f := range all {
			text := s.read(t, filepath.Join("good", f))
			if f == file {
				text = change(text)
			}
			if text != "" {
				s.write(t, filepath.Join(name, f), text)
			}
		}
	}
	variant("no-classes", dataset.ClassesFile, func(string) string { return "" })
	variant("columns", dataset.FeaturesFile, func(text string) string {
		rows := strings.Split(text, "\n")
		rows[4] += ",1"
		return strings.Join(rows, "\n")
	})
	variant("cut", dataset.FeaturesFile, func(text string) string { return text[:len(text)-10] })
	variant("cut-at-a-row", dataset.ClassesFile, func(text string) string {
		return strings.Join(strings.SplitAfter(text, "\n")[:50], "")
	})
	variant("transposed", dataset.FeaturesFile, transposed)
	variant("header", dataset.FeaturesFile, func(text string) string { return "id,time,a,b,c,d\n" + text })
	variant("swapped", dataset.ClassesFile,
		func(string) string { return s.read(t, filepath.Join("good", dataset.EdgesFile)) })
	variant("nan", dataset.FeaturesFile, func(text string) string {
		at := strings.IndexByte(text, '\n')
		return text[:strings.LastIndexByte(text[:at], ',')] + ",NaN" + text[at:]
	})
}

func transposed(text string) string {
	var columns []string
	for row := range strings.Lines(text) {
		for i, field := range strings.Split(strings.TrimSuffix(row, "\n"), ",") {
			if i == len(columns) {
				columns = append(columns, "")
			}
			columns[i] += "," + field
		}
	}
	var out strings.Builder
	for _, column := range columns {
		out.WriteString(column[1:] + "\n")
	}
	return out.String()
}

// play starts the service, gives it the good dataset and lets it forget one
// transaction.
func (s *stage) play(t *testing.T) {
	t.Helper()
	s.start(t)
	r := s.run(t, "lethe", []string{"replay", "--dataset", "good", "--brokers", s.service.Brokers}, nil, false)
	require.Zero(t, r.code, r.stderr)
	s.service.Await("training", func(st service.Status) bool { return st.TrainedThrough == 3 })
	r = s.run(t, "lethe", []string{"erase", "submit", "--node", s.erased, "--request-id", "gdpr-17", "--wait", "--timeout",
		"20s", "--brokers", s.service.Brokers}, nil, false)
	require.Zero(t, r.code, "%s\n%s", r.stderr, s.service.Log())
}

func (s *stage) start(t *testing.T) {
	t.Helper()
	s.service = process.Start(t, s.bin, s.path("live"), s.ports, "--set", "partition.shards=2", "--set",
		"trainer.hidden=4")
}

var signatures = regexp.MustCompile(`"signatures":\[.*\]`)

// altered is a receipt of another request under the same signature.
func altered(t *testing.T, receipt string) string {
	t.Helper()
	var document struct{ Payload string }
	require.NoError(t, json.Unmarshal([]byte(receipt), &document))
	said, err := base64.RawURLEncoding.DecodeString(document.Payload)
	require.NoError(t, err)
	payload := base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(said), `gdpr-17`, `gdpr-18`, 1)))
	return strings.Replace(receipt, document.Payload, payload, 1)
}

// receipts writes the service's receipt anew, with something wrong each time,
// and keys that have not signed it.
func (s *stage) receipts(t *testing.T) {
	t.Helper()
	receipt := s.read(t, "live/receipts/gdpr-17.json")
	s.write(t, "receipts/cut.json", receipt[:300])
	s.write(t, "receipts/altered.json", altered(t, receipt))
	s.write(t, "receipts/stripped.json", signatures.ReplaceAllString(receipt, `"signatures":[]`))
	s.write(t, "receipts/format.json", `{"format":"another/1"}`)
	require.NotEqual(t, receipt, s.read(t, "receipts/altered.json"))
	public, _, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	der, err := x509.MarshalPKIXPublicKey(public)
	require.NoError(t, err)
	s.write(t, "another.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})))
	s.write(t, "broken.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der[:20]})))
}
