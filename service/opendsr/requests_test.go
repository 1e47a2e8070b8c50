package opendsr

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"lethe/pipeline/view"
)

// TestRequests sends requests as privacy tools do (B37): `post ADDRESS` with a body prints what is submitted and
// answered, or the error. No error repeats a value of the request.
func TestRequests(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	var submitted []string
	s, err := New(Options{
		Domain: "dsr.example", Signer: Signer{key: key}, View: func() *view.Reader { return nil },
		Controller: func(*http.Request) string { return "" }, StatePath: filepath.Join(t.TempDir(), "state"),
		Now:    func() time.Time { return time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC) },
		Logger: slog.New(slog.DiscardHandler),
		Actions: Actions{Submit: func(_ context.Context, a Asked) error {
			submitted = append(submitted, fmt.Sprintf("submitted %s: subjects %q, transactions %q, by %s\n", a.RequestID,
				a.Subjects, a.Transactions, a.Deadline.Format(time.DateOnly)))
			return nil
		}},
	})
	require.NoError(t, err)
	datadriven.RunTest(t, "testdata/requests", func(t *testing.T, d *datadriven.TestData) string {
		submitted = nil
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, d.CmdArgs[0].Key, strings.NewReader(d.Input))
		s.Handler().ServeHTTP(w, r)
		var answer struct {
			Error        struct{ Message string }
			ControllerID string `json:"controller_id"`
			RequestID    string `json:"subject_request_id"`
			APIVersion   string `json:"api_version"`
			Extensions   json.RawMessage
		}
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer), w.Body)
		if answer.Error.Message != "" {
			require.NotContains(t, w.Body.String(), "bob", "an error repeats nothing personal")
			return fmt.Sprintf("%d %s\n", w.Code, answer.Error.Message)
		}
		return fmt.Sprintf("%s%d %s, version %s, controller %q %s\n", strings.Join(submitted, ""), w.Code, answer.RequestID,
			answer.APIVersion, answer.ControllerID, answer.Extensions)
	})
}
