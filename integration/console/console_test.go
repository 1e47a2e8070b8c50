package console

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
	"lethe/dataset"
	"lethe/deletions/receipt"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/integration/process"
	"lethe/pipeline/view"
	"lethe/service"
	"lethe/service/api"
	"lethe/service/guard"
)

const (
	steps    = 8
	customer = "customer 7"
	// early is a transaction that comes long before its timestep.
	early = "much-too-early"
	// hostile is an id that would run in a page that took it for HTML.
	hostile = "<img/src=x/onerror=hacked=1//"
	waitFor = 2 * time.Minute
)

// given is what the journeys are told.
type given struct {
	URL string `json:"url"`
	// Fresh is the address of a lethe that has received nothing and asks for no token.
	Fresh    string            `json:"fresh"`
	Tokens   map[string]string `json:"tokens"`
	Customer string            `json:"customer"`
	// Shared is a transaction that carries another customer too.
	Shared  string `json:"shared"`
	Early   string `json:"early"`
	Hostile string `json:"hostile"`
	// Key is the fingerprint of the key that signs receipts, PEM the file.
	Key string `json:"key"`
	PEM string `json:"pem"`
}

func TestJourneys(t *testing.T) {
	modules, chromium := os.Getenv("CONSOLE_MODULES"), os.Getenv("CHROMIUM")
	if modules == "" || chromium == "" {
		if os.Getenv("CONSOLE") == "required" {
			t.Fatal("CONSOLE_MODULES or CHROMIUM is not set")
		}
		t.Skip("there is no browser (make console installs one)")
	}
	dir := t.TempDir()
	g := given{Customer: customer, Early: early, Hostile: hostile}
	var lines string
	g.Tokens, lines = tokens(t)
	names := process.WriteFile(t, "names", "amount\nfee\ninputs\noutputs\nhour\n<script>hacked=1</script>\n")
	// Under one secret, scores and shards are the same in every run.
	secret := filepath.Join(t.TempDir(), "secret")
	_, err := configs.LoadOrCreateSecret(secret, known{})
	require.NoError(t, err)
	s := process.Start(t, process.Build(t), dir, process.FreePorts(t), "--set", "secret_file="+secret,
		"--set", "http.tokens_file="+process.WriteFile(t, "tokens", lines), "--set", "scoring.feature_names="+names,
		"--set", "ingest.max_timestep_jump=5", "--set", "ingest.reopen_window=300ms",
		"--set", "embedded.clean_interval=100ms", "--set", "partition.shards=4",
		"--set", "trainer.hidden=8", "--set", "trainer.passes=1",
		"--set", "trainer.window_timesteps=3", "--set", "trainer.components=elliptic-gin,trees:2,logistic:2")
	g.URL = s.URL
	g.Fresh = process.Start(t, process.Build(t), t.TempDir(), process.FreePorts(t)).URL
	c := configs.Default()
	c.DataDir = dir
	path := configs.PublicKeyPath(c.SigningKeyPath())
	keys, err := configs.ReadPublicKeys(path)
	require.NoError(t, err)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	g.Key, g.PEM = receipt.KeyID(keys[0]), string(text)
	g.Shared = feed(t, s, g.Tokens["admin"])

	told, err := json.Marshal(g)
	require.NoError(t, err)
	files, err := filepath.Glob("*.test.mjs")
	require.NoError(t, err)
	node := exec.CommandContext(t.Context(), "node",
		append([]string{"--test", "--test-concurrency=1", "--test-reporter=spec"}, files...)...)
	node.Env = append(os.Environ(), "CONSOLE_GIVEN="+string(told))
	out, err := node.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatalf("%v; the end of lethe's log:\n%s", err, end(s.Log()))
	}
}

// known is what a secret is made of that is none.
type known struct{}

// Read implements io.Reader.
func (known) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 7
	}
	return len(p), nil
}

// end is the last of a long text.
func end(text string) string {
	const most = 4000
	return text[max(0, len(text)-most):]
}

const features = 6

// tokens are those of all roles, and the lines that let them in.
func tokens(t *testing.T) (out map[string]string, lines string) {
	out = make(map[string]string)
	for _, role := range guard.Roles() {
		token, line, err := guard.NewToken(role, []string{role}, time.Time{})
		require.NoError(t, err)
		out[role], lines = token, lines+line+"\n"
	}
	return out, lines
}

// feed publishes a stream in which somebody is a customer and an id would run in a page, and before
// it a record that comes too early. It waits until all of it was scored and learnt from, and returns a transaction
// that carries another customer, too.
func feed(t *testing.T, s *process.Service, token string) (shared string) {
	client, err := bus.Open(bus.At(s.Brokers))
	require.NoError(t, err)
	defer client.Close()
	key, value, err := ingest.EncodeTransaction(lethe.Transaction{
		ID: early, Timestep: steps + 1, Features: make([]float32, features),
	})
	require.NoError(t, err)
	require.NoError(t, client.Write(t.Context(), bus.Transactions, []ingest.Outgoing{
		{Key: key, Value: value},
		{Key: []byte("broken"), Value: []byte(`{"type":"transaction","id":"broken","timestep":"soon"}`)},
	}))
	await(t, s, "the record that came too early is refused", func() bool {
		var letters api.Page[view.Letter]
		return ask(t, s, token, "/dead-letters?reason=timestep_jump", &letters) && len(letters.Items) == 1
	})
	o := dataset.GenerateDefaults()
	o.Steps, o.NodesPerStep, o.Features, o.Seed = steps, 150, features, 17
	stream, err := dataset.Generate(o)
	require.NoError(t, err)
	stream.Steps[3].Transactions[7].Subjects = []string{customer}
	stream.Steps[4].Transactions[11].Subjects = []string{customer, "customer 8"}
	rename(&stream.Steps[5])
	_, err = service.Replay(t.Context(), client, stream, service.ReplayOptions{})
	require.NoError(t, err)
	await(t, s, "the stream is scored and learnt from", func() bool {
		var status service.Status
		return ask(t, s, token, "/status", &status) && status.TrainedThrough == steps && status.LagRecords == 0
	})
	await(t, s, "the view has it, with reasons", func() bool {
		var page api.Page[*view.Step]
		var alerts api.Page[api.Scored]
		return ask(t, s, token, "/timesteps", &page) && len(page.Items) == steps && page.Items[0].Quality != nil &&
			ask(t, s, token, "/alerts", &alerts) && len(alerts.Items) > 0 &&
			ask(t, s, token, "/transactions/"+alerts.Items[0].Ref.String()+"/reasons", nil)
	})
	return string(stream.Steps[4].Transactions[11].ID)
}

// rename gives a transaction with payments the id that would run in a page.
func rename(step *dataset.Step) {
	old := step.Payments[0].Source
	for i := range step.Transactions {
		if step.Transactions[i].ID == old {
			step.Transactions[i].ID = hostile
		}
	}
	for i := range step.Payments {
		if p := &step.Payments[i]; p.Source == old {
			p.Source = hostile
		} else if p.Target == old {
			p.Target = hostile
		}
	}
	for i := range step.Labels {
		if step.Labels[i].ID == old {
			step.Labels[i].ID = hostile
		}
	}
}

// ask reads an answer of the API; it is false while there is none.
func ask(t *testing.T, s *process.Service, token, path string, into any) bool {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+api.Prefix+path, http.NoBody)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return false
	}
	return into == nil || json.NewDecoder(response.Body).Decode(into) == nil
}

func await(t *testing.T, s *process.Service, what string, done func() bool) {
	t.Helper()
	require.Eventually(t, done, waitFor, 100*time.Millisecond, "%s", what)
	require.True(t, s.Running(), "%s", s.Log())
}

// The pictures that pages of the documents show are there, and no others.
func TestPicturesAreShown(t *testing.T) {
	page, err := os.ReadFile("../../docs/console.md")
	require.NoError(t, err)
	pictures, err := filepath.Glob("../../docs/img/console-*.png")
	require.NoError(t, err)
	require.NotEmpty(t, pictures)
	for _, picture := range pictures {
		require.Contains(t, string(page), "(img/"+filepath.Base(picture)+")")
	}
}
