package service_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/service"
	"lethe/service/api"
	"lethe/service/servicetest"
)

// example is one of the programs for people, in the languages that it is written in. What is missing here is
// left out.
func example(t *testing.T, folder, name string) map[string][]string {
	t.Helper()
	at := filepath.Join("..", "examples", folder)
	binary := filepath.Join(t.TempDir(), name)
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./"+at).CombinedOutput()
	require.NoError(t, err, "%s", out)
	in := map[string][]string{"Go": {binary}}
	if python, err := exec.LookPath("python3"); err == nil {
		in["Python"] = []string{python, filepath.Join(at, name+".py")}
	} else {
		t.Log("there is no python3: its example was not run")
	}
	if _, err := exec.LookPath("curl"); err == nil {
		in["curl"] = []string{"sh", filepath.Join(at, name+".sh")}
	} else {
		t.Log("there is no curl: its example was not run")
	}
	return in
}

// runs returns what an example prints.
func runs(t *testing.T, command []string, arguments ...string) string {
	t.Helper()
	words := append(append([]string{}, command[1:]...), arguments...)
	out, err := exec.CommandContext(t.Context(), command[0], words...).CombinedOutput()
	require.NoError(t, err, "%v: %s", command, out)
	return string(out)
}

// The numbered examples do in each language what they say, against a running service.
func TestExamples(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 4, 60, 49)
	config := servicetest.SmallConfig(t, t.TempDir())
	r := start(t, config)
	r.Replay(stream)
	c := callerOf(r)
	var page api.Page[api.Scored]
	r.Await(func(*service.Status) bool {
		c.get("/alerts", &page)
		return len(page.Items) >= 6 && page.Items[0].Final
	})
	address := "http://" + r.HTTPAddress()

	riskiest := example(t, "1-riskiest", "riskiest")
	listed := runs(t, riskiest["Go"], address)
	require.Len(t, strings.Split(strings.TrimSpace(listed), "\n"), 3)
	first := page.Items[0]
	require.True(t, strings.HasPrefix(listed,
		fmt.Sprintf("%s of timestep %d: %v\n", first.Ref, first.Timestep, first.Probability)),
		"the example rounds no probability: %s", listed)
	for language, command := range riskiest {
		switch language {
		case "curl":
			require.Contains(t, runs(t, command, address), page.Items[2].Ref.String())
		default:
			require.Equal(t, listed, runs(t, command, address), language)
		}
	}

	for language, command := range example(t, "2-verdict", "verdict") {
		require.Equal(t, "said\n", runs(t, command, address, page.Items[0].Ref.String()), language)
	}

	gone := make(map[string]lethe.TransactionID)
	for language, command := range example(t, "3-forget", "forget") {
		gone[language] = page.Items[1+len(gone)].Transaction
		file := filepath.Join(t.TempDir(), "receipt.json")
		require.Equal(t, "verified\n",
			runs(t, command, address, "example-"+strings.ToLower(language), string(gone[language]), file), language)
		receipt, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Contains(t, string(receipt), "signature", language)
	}
	for language, id := range gone {
		var found api.Page[api.Scored]
		require.NotContains(t, func() (all []lethe.TransactionID) {
			c.get("/predictions?limit=500", &found)
			for _, s := range found.Items {
				all = append(all, s.Transaction)
			}
			return all
		}(), id, language)
	}
}
