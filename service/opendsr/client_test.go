package opendsr_test

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// dsrCertificate writes a certificate for the domain that an authority has signed, and its key.
func dsrCertificate(t *testing.T) (certificateFile, keyFile string, authority *x509.CertPool) {
	t.Helper()
	key := func() *rsa.PrivateKey {
		k, err := rsa.GenerateKey(rand.Reader, 2048)
		require.NoError(t, err)
		return k
	}
	caKey, leafKey := key(), key()
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	caBytes, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	require.NoError(t, err)
	ca, err = x509.ParseCertificate(caBytes)
	require.NoError(t, err)
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: dsrDomain}, DNSNames: []string{dsrDomain},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	leafBytes, err := x509.CreateCertificate(rand.Reader, leaf, ca, leafKey.Public(), caKey)
	require.NoError(t, err)
	keyBytes, err := x509.MarshalPKCS8PrivateKey(leafKey)
	require.NoError(t, err)
	dir := t.TempDir()
	certificateFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	require.NoError(t, os.WriteFile(certificateFile,
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leafBytes}), 0o600))
	require.NoError(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyBytes}), 0o600))
	authority = x509.NewCertPool()
	authority.AddCert(ca)
	return certificateFile, keyFile, authority
}

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
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, bytes.NewReader(body))
	require.NoError(c.t, err)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	require.NoError(c.t, err)
	text, err := io.ReadAll(response.Body)
	require.NoError(c.t, err)
	require.NoError(c.t, response.Body.Close())
	require.NoError(c.t, json.Unmarshal(text, &answer), "%s", text)
	if response.StatusCode < http.StatusBadRequest {
		c.check(response.Header, text)
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
