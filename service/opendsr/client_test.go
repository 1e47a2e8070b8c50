package opendsr_test

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/service/servicetest"
)

// dsrClient is a controller's side, written from the specification and nothing of lethe.
type dsrClient struct {
	t         *testing.T
	base      string
	authority *x509.CertPool
	key       *rsa.PublicKey

	mu     sync.Mutex
	called []map[string]any
}

// ask asks, and checks the signature of an answer that is no error.
func (c *dsrClient) ask(method, path string, body []byte) (status int, answer map[string]any) {
	c.t.Helper()
	response := servicetest.AskThrough(c.t, http.DefaultClient, method, c.base+path, string(body),
		"Content-Type", "application/json")
	require.NoError(c.t, json.Unmarshal([]byte(response.Text), &answer), "%s", response.Text)
	if response.StatusCode < http.StatusBadRequest {
		c.check(response.Header, []byte(response.Text))
	}
	return response.StatusCode, answer
}

// check checks a signature (sections 4.2, 8.8): the certificate is the domain's, issued by an authority
// that is trusted, and the signature is of the body as it came.
func (c *dsrClient) check(h http.Header, body []byte) {
	c.t.Helper()
	require.Equal(c.t, dsrDomain, h.Get("X-OpenDSR-Processor-Domain"))
	signature, err := base64.StdEncoding.DecodeString(h.Get("X-OpenDSR-Signature"))
	require.NoError(c.t, err)
	sum := sha256.Sum256(body)
	require.NoError(c.t, rsa.VerifyPKCS1v15(c.key, crypto.SHA256, sum[:], signature))
	sum[0]++
	require.Error(c.t, rsa.VerifyPKCS1v15(c.key, crypto.SHA256, sum[:], signature), "of this body alone")
}

// ServeHTTP takes callbacks; the first try of each is not taken.
func (c *dsrClient) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var said map[string]any
	if json.Unmarshal(body, &said) != nil || r.URL.Path != "/callbacks" {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	c.check(r.Header, body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.called = append(c.called, said)
	if len(c.called) == 1 {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// statuses are those that callbacks have told of a request, in order, each once.
func (c *dsrClient) statuses(id string) (out []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, said := range c.called {
		if said["subject_request_id"] == id {
			out = append(out, said["request_status"].(string))
		}
	}
	return slices.Compact(out)
}
