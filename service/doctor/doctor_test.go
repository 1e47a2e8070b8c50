package doctor_test

import (
	"crypto/ed25519"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lethe"
	"lethe/configs"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/diskroom"
	"lethe/internal/testbroker"
	"lethe/pipeline/wire"
	"lethe/service"
	"lethe/service/doctor"
	"lethe/service/waiting"
)

// patient is a deployment that is looked at.
type patient struct {
	options doctor.Options
}

func newPatient(t *testing.T, dir string) *patient {
	t.Helper()
	config := configs.Default()
	config.DataDir, config.HTTP.Address = dir, "127.0.0.1:1" // nobody listens there
	return &patient{doctor.Options{
		Config: config, Version: "1.0", Now: time.Now, HTTP: http.DefaultClient,
		Disk: func(string) (diskroom.Room, error) {
			return diskroom.Room{FreeBytes: 1 << 40, TotalBytes: 2 << 40}, nil
		},
	}}
}

// begun is the folder of a deployment that has run.
func begun(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.MkdirAll(service.BrokerDir(dir), 0o700))
	require.NoError(t, os.Chmod(dir, 0o700))
	config := configs.Default()
	config.DataDir = dir
	random := strings.NewReader(strings.Repeat("not random at all", 100))
	_, err := configs.LoadOrCreateInstance(dir, random)
	require.NoError(t, err)
	_, err = configs.LoadOrCreateSecret(config.SecretPath(), random)
	require.NoError(t, err)
	_, err = configs.Keystore{}.LoadOrCreateSigningKey(t.Context(), config.SigningKeyPath(), random)
	require.NoError(t, err)
	return dir
}

// wrong lists what is not right, a line each, without the folder.
func (p *patient) wrong(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	for _, f := range doctor.Examine(t.Context(), p.options) {
		require.NotEmpty(t, f.Message)
		require.Equal(t, f.Grade == doctor.OK, f.Remedy == "", "%v", f)
		if f.Grade != doctor.OK {
			fmt.Fprintf(&out, "%s %s: %s\n", f.Grade, f.Check, f.Message)
		}
	}
	return strings.ReplaceAll(out.String(), p.options.Config.DataDir, "DIR")
}

func TestNothingIsWrong(t *testing.T) {
	fresh := newPatient(t, filepath.Join(t.TempDir(), "data"))
	require.Empty(t, fresh.wrong(t))
	require.NoDirExists(t, fresh.options.Config.DataDir, "looking makes nothing")
	require.Empty(t, newPatient(t, begun(t)).wrong(t))
}

func TestFilesThatAreWrong(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, dir string)
		want  string
	}{
		"others may read the folder": {func(t *testing.T, dir string) { require.NoError(t, os.Chmod(dir, 0o755)) },
			"warning data_dir: DIR has mode 0755: others may read it\n"},
		"a restore was cut off": {func(t *testing.T, dir string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, service.RestoringName), nil, 0o600))
		}, "problem data_dir: DIR: what was put here is not whole, and what was erased since may still be in it: "},
		"others may read the secret": {func(t *testing.T, dir string) {
			require.NoError(t, os.Chmod(filepath.Join(dir, "keys", "secret"), 0o644))
		}, "problem keys: secret: key file DIR/keys/secret: mode 0644 lets others read it"},
		"no signing key": {func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "keys", "receipt-ed25519.pem")))
		}, "problem keys: DIR/keys/receipt-ed25519.pem is missing, and the data directory was begun with one\n"},
		"another secret": {func(t *testing.T, dir string) {
			value, err := wire.NewSealed(lethe.Secret{7}, nil).Encode()
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(service.SealedPath(dir), value, 0o600))
		}, "problem keys: the secret is key "},
		"no log of the broker": {func(t *testing.T, dir string) { require.NoError(t, os.RemoveAll(service.BrokerDir(dir))) },
			"problem brokers: the data directory was begun, and the embedded broker's log is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := begun(t)
			c.spoil(t, dir)
			require.Contains(t, newPatient(t, dir).wrong(t), c.want)
		})
	}
}

func TestRoomOnTheDisk(t *testing.T) {
	for free, want := range map[uint64]string{
		100 << 20: "problem disk: 100.0 MiB of 100.0 GiB are free, less than 512.0 MiB\n",
		1 << 30:   "warning disk: 1.0 GiB of 100.0 GiB are free, less than 5.0 GiB\n",
		4 << 30:   "warning disk: 4.0 GiB of 100.0 GiB are free, less than 5.0 GiB\n", 50 << 30: "",
	} {
		p := newPatient(t, filepath.Join(t.TempDir(), "not", "there"))
		p.options.Disk = func(path string) (diskroom.Room, error) {
			require.DirExists(t, path)
			return diskroom.Room{FreeBytes: free, TotalBytes: 100 << 30}, nil
		}
		require.Equal(t, want, p.wrong(t))
	}
}

func TestBrokersThatAreWrong(t *testing.T) {
	p := newPatient(t, filepath.Join(t.TempDir(), "data"))
	p.options.Config.Kafka.Brokers = []string{"127.0.0.1:1"}
	require.Contains(t, p.wrong(t), "problem brokers: no broker can be reached")

	broker, client := testbroker.Start(t, nil)
	p.options.Config.Kafka = broker.Config()
	require.Empty(t, p.wrong(t))
	p.options.Config.Kafka.TopicPrefix = "others."
	require.Contains(t, p.wrong(t), "problem topics: transactions.v1: topic is missing")

	p.options.Config.Kafka = broker.Config()
	said := []ingest.Outgoing{{Key: []byte("!k"), Value: []byte("v")}}
	require.NoError(t, client.Write(t.Context(), bus.Control, said))
	require.Empty(t, p.wrong(t))
	p.options.Now = func() time.Time { return time.Now().Add(-time.Hour) }
	require.Contains(t, p.wrong(t), "problem clock: it is 1h0m0s behind a record on control.v1\n")

	// What managed brokers refuse is a warning, with what follows (B6).
	p.options.Now = time.Now
	transport := &kafka.Transport{}
	defer transport.CloseIdleConnections()
	raw := &kafka.Client{Addr: kafka.TCP(broker.Config().Brokers...), Transport: transport}
	_, err := raw.IncrementalAlterConfigs(t.Context(), &kafka.IncrementalAlterConfigsRequest{
		Resources: []kafka.IncrementalAlterConfigsRequestResource{{
			ResourceType: kafka.ResourceTypeTopic, ResourceName: client.Name(bus.Labels),
			Configs: []kafka.IncrementalAlterConfigsRequestConfig{{
				Name: "segment.ms", Value: "600000", ConfigOperation: kafka.ConfigOperationSet,
			}},
		}},
	})
	require.NoError(t, err)
	require.Equal(t, "warning topics: labels.v1: segment.ms is 600000, want 5000: the brokers' cleaner begins later, and "+
		"each erasure is verified as much later\n", p.wrong(t))
}

func TestTheServiceThatRuns(t *testing.T) {
	ready, version := "graphs: ok\nok\n", "1.0"
	var waits []waiting.Wait
	mux := http.NewServeMux()
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !strings.HasSuffix(ready, "\nok\n") {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		io.WriteString(w, ready)
	})
	mux.HandleFunc("/api/v1/status", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(service.Status{Version: version, Waiting: waits})
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	p := newPatient(t, begun(t))
	p.options.Config.HTTP.Address = server.Listener.Addr().String()
	require.Empty(t, p.wrong(t))
	waits = []waiting.Wait{{
		Cause: waiting.PartitionBehind, Since: time.Unix(0, 0), Move: waiting.Producer,
		Message: "Timestep 3 is open.", Do: "Send.",
	}}
	require.Equal(t,
		"problem waiting: Timestep 3 is open. (since 1970-01-01T00:00:00Z; the producer's move)\n", p.wrong(t))
	waits[0].Cause = waiting.ErasureHeld
	require.Equal(t,
		"warning waiting: Timestep 3 is open. (since 1970-01-01T00:00:00Z; the producer's move)\n", p.wrong(t),
		"a hold is a decision, and no problem")
	waits, version = nil, "0.9"
	require.Equal(t, "warning version: the service is 0.9, this program is 1.0\n", p.wrong(t))
	ready = "broker: not ok: no answer for 5s\ngraphs: ok\nnot ok\n"
	require.Contains(t, p.wrong(t), "problem service: broker: no answer for 5s\n")
}

// TestAServiceThatHangsIsAProblem has something listen at the address that never answers.
func TestAServiceThatHangsIsAProblem(t *testing.T) {
	port, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer port.Close()
	p := newPatient(t, begun(t))
	p.options.Config.HTTP.Address = port.Addr().String()
	p.options.HTTP = &http.Client{Timeout: 100 * time.Millisecond}
	require.Contains(t, p.wrong(t), "problem service: the service at http://"+port.Addr().String()+" does not answer")
}

// A broker that answers at the configured address and advertises one that nobody reaches is named with that address
// (B10).
func TestAnAdvertisedAddressThatNobodyReachesIsNamed(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	require.NoError(t, err)
	defer cluster.Close()
	cluster.ControlKey(int16(kmsg.Metadata), func(asked kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		answer := asked.ResponseKind().(*kmsg.MetadataResponse)
		answer.Brokers = []kmsg.MetadataResponseBroker{{NodeID: 7, Host: "127.0.0.1", Port: 1}}
		return answer, nil, true
	})
	p := newPatient(t, filepath.Join(t.TempDir(), "data"))
	p.options.Config.Kafka.Brokers = cluster.ListenAddrs()
	require.Contains(t, p.wrong(t), "problem brokers: broker 7 advertises 127.0.0.1:1, and does not answer there: ")
	require.NotContains(t, p.wrong(t), "topics")
}

// A service with TLS is asked by TLS, whatever name its certificate is for (B46).
func TestAServiceWithTLSIsAsked(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/readyz":
			io.WriteString(w, "graphs: ok\nok\n")
		default:
			json.NewEncoder(w).Encode(service.Status{Version: "1.0"})
		}
	}))
	defer server.Close()
	folder := t.TempDir()
	certificate := filepath.Join(folder, "cert.pem")
	require.NoError(t, os.WriteFile(certificate,
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	p := newPatient(t, begun(t))
	p.options.Config.HTTP.Address = server.Listener.Addr().String()
	p.options.Config.HTTP.TLS.CertificateFile = certificate
	require.Empty(t, p.wrong(t))
	ready := doctor.Finding{
		Check: "service", Grade: doctor.OK, Message: "the one at https://" + server.Listener.Addr().String() + " is ready",
	}
	require.Contains(t, doctor.Examine(t.Context(), p.options), ready)

	p.options.Config.HTTP.TLS.CertificateFile = filepath.Join(folder, "absent.pem")
	require.Contains(t, p.wrong(t), "problem service: open ")
	other, _, err := ed25519.GenerateKey(strings.NewReader(strings.Repeat("x", 100)))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: other}), 0o600))
	p.options.Config.HTTP.TLS.CertificateFile = certificate
	require.Contains(t, p.wrong(t), "problem service: "+certificate)
}
