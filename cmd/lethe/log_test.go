package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe/configs"
	"lethe/deletions"
	"lethe/deletions/disk"
	"lethe/deletions/translog"
	"lethe/ingest/bus"
	"lethe/service"
)

// logbook is a data directory, and copies of it that are damaged.
type logbook struct {
	*testing.T
	// folder has the directories; data is the one in use.
	folder, data string
	// stop ends the service that runs on it.
	stop    func(leaves int)
	brokers string
	address string
	client  *bus.Client
	// configure, if not nil, changes what the service runs with.
	configure func(c *configs.Config)
}

// newLogbook is one that nothing has used yet, with a folder "out" for files of commands.
func newLogbook(t *testing.T) *logbook {
	b := &logbook{T: t, folder: t.TempDir()}
	b.data = filepath.Join(b.folder, "data")
	require.NoError(t, os.MkdirAll(filepath.Join(b.folder, "out"), 0o755))
	return b
}

// Commands:
//
//	serve                       run the service
//	stop leaves=N               and end it, once that many leaves are published
//	lethe [> FILE]              a command line, with $DIR for the data directory, $BROKERS
//	                            and $OUT, a folder for files
//	copy                        go on with another copy of the directory as it was
//	                            before the first one
//	ask PATH [BODY]             ask the API of the service, by POST if there is a body
//	drop leaf=N                 take a leaf from the stored log, of 0 to the end
//	alter leaf=N                another byte in a leaf
//	swap leaf=N                 two leaves in each other's place
//	key                         another signing key, which nobody introduces
//
// Digests, times and keys are masked.
func TestLogTranscript(t *testing.T) {
	b := newLogbook(t)
	original := b.data
	copies := 0
	datadriven.RunTest(t, "testdata/log", func(t *testing.T, td *datadriven.TestData) string {
		b.T = t
		switch td.Cmd {
		case "serve":
			return b.serve()
		case "stop":
			leaves := 0
			td.ScanArgs(t, "leaves", &leaves)
			b.stop(leaves)
		case "lethe":
			return b.lethe(td)
		case "ask":
			return b.ask(td)
		case "copy":
			copies++
			b.data = filepath.Join(b.folder, "copy"+string(rune('0'+copies)))
			require.NoError(t, os.CopyFS(b.data, os.DirFS(original)))
			// They were copied with the mode of files for everybody.
			for _, name := range []string{"instance", "keys/secret", "keys/receipt-ed25519.pem"} {
				require.NoError(t, os.Chmod(filepath.Join(b.data, name), 0o600))
			}
		case "key":
			path := b.config().SigningKeyPath()
			require.NoError(t, errors.Join(os.Remove(path), os.Remove(configs.PublicKeyPath(path))))
			_, err := configs.Keystore{}.LoadOrCreateSigningKey(t.Context(), path, rand.Reader)
			require.NoError(t, err)
		default:
			b.damage(td)
		}
		return ""
	})
}

func (b *logbook) config() configs.Config {
	c := configs.Default()
	c.DataDir, c.HTTP.Address, c.Embedded.Port = b.data, "127.0.0.1:0", 0
	c.Kafka.Partitions, c.Partition.Shards, c.Trainer.Hidden = 1, 2, 8
	if b.configure != nil {
		b.configure(&c)
	}
	return c
}

// serve runs the service, or returns why it does not start.
func (b *logbook) serve() string {
	s, err := service.New(b.Context(), service.Defaults(b.config(), "test", slog.New(slog.DiscardHandler)))
	if err != nil {
		return b.masked(err.Error() + "\n")
	}
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	b.address = s.HTTPAddress()
	b.brokers, b.client = strings.Join(s.Brokers(), ","), s.Client()
	b.stop = func(leaves int) {
		require.Eventually(b, func() bool {
			log, err := translog.ReadPublished(b.Context(), s.Client())
			return err == nil && len(log.Leaves) >= leaves
		}, time.Minute, 20*time.Millisecond)
		cancel()
		require.NoError(b, <-done)
		require.NoError(b, s.Close())
	}
	return ""
}

// stages are the lines that tell how far a command is.
var stages = regexp.MustCompile(`(?m)^\[ *[0-9.]+s\] (.*)\n`)

var masks = []struct {
	find *regexp.Regexp
	by   string
}{
	{stages, ""},
	{regexp.MustCompile(`\b[0-9a-f]{64}\b`), "<digest>"},
	{regexp.MustCompile(`\b[0-9a-f]{32}\b`), "<id>"},
	{regexp.MustCompile(`\b(by|of) [0-9a-f]{16}\b`), "$1 <hash>"},
	{regexp.MustCompile(`"(from|to|signature)":"[^"]*"`), `"$1":"<base64>"`},
	{regexp.MustCompile(`root [A-Za-z0-9+/]{43}=`), "root <hash>"},
	{regexp.MustCompile(`key \S{43} follows \S{43}:`), "key <id> follows <id>:"},
	{regexp.MustCompile(`\b(key |by "?)[A-Za-z0-9_-]{43}\b`), "$1<id>"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| UTC)?`), "<time>"},
}

// lethe runs a command line and returns what it prints.
func (b *logbook) lethe(td *datadriven.TestData) string {
	out := filepath.Join(b.folder, "out")
	text := strings.NewReplacer("$DIR", b.data, "$BROKERS", b.brokers, "$OUT", out).Replace(td.Input)
	line, into, redirected := strings.Cut(text, " > ")
	status, stdout, stderr := execute(b.T, strings.Fields(line)...)
	said := make(map[string]bool)
	for _, stage := range stages.FindAllStringSubmatch(stderr, -1) {
		require.False(b, said[stage[1]], "%s: told twice", stage[1])
		said[stage[1]] = true
	}
	if redirected {
		require.NoError(b, os.WriteFile(strings.TrimSpace(into), []byte(stdout), 0o600))
		stdout = ""
	}
	masked := b.masked(stdout + stderr)
	if status != 0 {
		masked += "exit status " + string(rune('0'+status)) + "\n"
	}
	return masked
}

// ask asks the API, and returns the status.
func (b *logbook) ask(td *datadriven.TestData) string {
	method, path, body := http.MethodGet, "/api/v1"+td.CmdArgs[0].Key, td.Input
	if body != "" {
		method = http.MethodPost
	}
	status := 0
	require.Eventually(b, func() bool { // the view may be behind
		status = b.asked(method, path, body).StatusCode
		return status == http.StatusOK
	}, time.Minute, 20*time.Millisecond)
	return http.StatusText(status) + "\n"
}

// masked is what was said without what differs from run to run.
func (b *logbook) masked(said string) string {
	said = strings.ReplaceAll(strings.ReplaceAll(said, b.data, "$DIR"), b.folder, "$FOLDER")
	for _, m := range masks {
		said = m.find.ReplaceAllString(said, m.by)
	}
	return said
}

// damage changes the stored log as whoever can write to the disk may.
func (b *logbook) damage(td *datadriven.TestData) {
	_, store, err := disk.OpenLedger(vfs.Default, filepath.Join(b.data, "build"), nil)
	require.NoError(b, err)
	kv := disk.KV(store)
	log, err := translog.ReadStored(kv)
	require.NoError(b, err)
	at := len(log.Leaves) - 1
	if td.HasArg("leaf") {
		td.ScanArgs(b.T, "leaf", &at)
	}
	put := func(index int, text []byte) {
		key := []byte("log/leaf/" + strings.Repeat("0", 14) + string(rune('0'+index/10)) + string(rune('0'+index%10)))
		require.NoError(b, kv.Put(deletions.Row{Key: key, Value: text}))
	}
	leaves := log.Leaves
	switch td.Cmd {
	case "alter":
		put(at, bytes.Replace(leaves[at], []byte(`"at":"20`), []byte(`"at":"19`), 1))
	case "drop": // what follows moves up, and the last is there twice
		for i := at; i+1 < len(leaves); i++ {
			put(i, leaves[i+1])
		}
	case "swap":
		put(at, leaves[at+1])
		put(at+1, leaves[at])
	default:
		b.Fatalf("unknown command %s", td.Cmd)
	}
	require.NoError(b, store.Close())
}
