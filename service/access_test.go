package service_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/configs"
	"lethe/deletions/translog"
	"lethe/service/guard"
	"lethe/service/servicetest"
)

// people are those of a file of tokens, each under a name that is his role.
func people(t *testing.T, c *configs.Config, roles ...string) (tokens map[string]string) {
	tokens = make(map[string]string)
	var lines bytes.Buffer
	for _, role := range roles {
		token, line, err := guard.NewToken(role, []string{role}, time.Time{})
		require.NoError(t, err)
		tokens[role] = token
		lines.WriteString(line + "\n")
	}
	c.HTTP.TokensFile = filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(c.HTTP.TokensFile, lines.Bytes(), 0o600))
	return tokens
}

// askAs asks a service as somebody, and returns the status and what it answers.
func askAs(t *testing.T, s *running, token, method, path string, body any) (int, []byte) {
	t.Helper()
	sent := ""
	if body != nil {
		text, err := json.Marshal(body)
		require.NoError(t, err)
		sent = string(text)
	}
	answer := s.Ask(method, "/api/v1"+path, sent,
		"Content-Type", "application/json", "Authorization", servicetest.Bearer(token))
	return answer.StatusCode, []byte(answer.Text)
}

// Every change and every look at a request is in the transparency log, by keyed hashes of who it was
// and of which request, and so that nothing personal stands in it. What is refused is not.
func TestWhatPeopleDoIsWrittenDown(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallStack(t, t.TempDir())
	tokens := people(t, &c, "compliance", "analyst", "viewer")
	s := start(t, c)
	s.Replay(servicetest.SmallStream(t, 3, 60, 17))
	ask := func(who, method, path string, body any) int {
		status, _ := askAs(t, s, tokens[who], method, path, body)
		return status
	}
	var page struct {
		Items []struct {
			Transaction string `json:"transaction"`
			Ref         string `json:"ref"`
		} `json:"items"`
	}
	require.Eventually(t, func() bool {
		_, text := askAs(t, s, tokens["viewer"], http.MethodGet, "/predictions", nil)
		return json.Unmarshal(text, &page) == nil && len(page.Items) > 0
	}, servicetest.WaitFor, servicetest.Tick)
	subject := page.Items[0]
	erasure := map[string]any{"request_id": "gdpr-17", "nodes": []string{subject.Transaction}, "reason": "asked by mail"}

	require.Equal(t, http.StatusForbidden, ask("analyst", http.MethodPost, "/erasures", erasure))
	require.Equal(t, http.StatusForbidden, ask("viewer", http.MethodGet, "/erasures", nil))
	label := map[string]string{"label": "illicit"}
	require.Equal(t, http.StatusOK, ask("analyst", http.MethodPost, "/transactions/"+subject.Ref+"/label", label))
	require.Equal(t, http.StatusOK, ask("compliance", http.MethodPost, "/erasures/plan", map[string]any{
		"nodes": []string{subject.Transaction},
	}))
	hold := map[string]any{"hold_id": "case-7", "nodes": []string{"another"}, "reason": "court"}
	require.Equal(t, http.StatusForbidden, ask("viewer", http.MethodGet, "/holds", nil))
	require.Equal(t, http.StatusForbidden, ask("analyst", http.MethodPost, "/holds", hold))
	require.Equal(t, http.StatusOK, ask("compliance", http.MethodPost, "/holds", hold))
	require.Equal(t, http.StatusForbidden, ask("analyst", http.MethodPost, "/holds/case-7/lift", nil))
	require.Equal(t, http.StatusOK, ask("compliance", http.MethodPost, "/holds/case-7/lift", nil))
	named := map[string]any{"request_id": "of-" + subject.Transaction, "nodes": []string{subject.Transaction}}
	require.Equal(t, http.StatusBadRequest, ask("compliance", http.MethodPost, "/erasures", named))
	require.Equal(t, http.StatusOK, ask("compliance", http.MethodPost, "/erasures", erasure))
	require.Eventually(t, func() bool {
		return ask("compliance", http.MethodGet, "/erasures/gdpr-17", nil) == http.StatusOK
	}, servicetest.WaitFor, servicetest.Tick)
	require.Equal(t, http.StatusOK, ask("compliance", http.MethodGet, "/erasures/gdpr-17", nil), "again")
	require.Equal(t, http.StatusOK, ask("compliance", http.MethodGet, "/erasures", nil))

	secret, err := configs.Keystore{}.ReadSecret(t.Context(), c.SecretFile)
	require.NoError(t, err)
	anna, bert := translog.ActorHash(secret, "compliance"), translog.ActorHash(secret, "analyst")
	request := translog.RequestHash(secret, "gdpr-17")
	want := []translog.Access{
		{Deed: translog.DeedLabel, Actor: bert, Count: 1},
		{Deed: translog.DeedPlan, Actor: anna, Count: 1},
		{Deed: translog.DeedHold, Actor: anna, Request: translog.RequestHash(secret, "case-7"), Count: 1},
		{Deed: translog.DeedLift, Actor: anna, Request: translog.RequestHash(secret, "case-7")},
		{Deed: translog.DeedSubmit, Actor: anna, Request: request, Count: 1},
		{Deed: translog.DeedLook, Actor: anna, Request: request},
		{Deed: translog.DeedLook, Actor: anna},
	}
	var found []translog.Access
	require.Eventually(t, func() bool {
		found = accessesOf(t, s, subject.Transaction, "gdpr-17", "asked by mail", "compliance", "analyst")
		return len(found) >= len(want)
	}, servicetest.WaitFor, servicetest.Tick)
	require.True(t, slices.IsSortedFunc(found, func(a, b translog.Access) int { return a.At.Compare(b.At) }))
	for i := range found {
		require.False(t, found[i].At.IsZero())
		found[i].At = time.Time{}
	}
	require.Equal(t, want, found)
}

// accessesOf are those in the log of a service, which holds none of some words.
func accessesOf(t *testing.T, s *running, words ...string) (found []translog.Access) {
	log, err := translog.ReadPublished(t.Context(), s.Client())
	require.NoError(t, err)
	for _, text := range log.Leaves {
		for _, word := range words {
			require.NotContains(t, string(text), word)
		}
		leaf, err := translog.Decode(text)
		require.NoError(t, err)
		if a, is := leaf.(translog.Access); is {
			found = append(found, a)
		}
	}
	return found
}
