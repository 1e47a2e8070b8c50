package opendsr_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/pipeline/requests"
	"lethe/service"
	"lethe/service/servicetest"
)

const dsrDomain = "dsr.example"

// discover reads the certificate that /discovery leads to. Its host is the domain, which stands for
// the address here.
func (c *dsrClient) discover() {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, c.base+"/certificate.pem", http.NoBody)
	require.NoError(c.t, err)
	response, err := http.DefaultClient.Do(r)
	require.NoError(c.t, err)
	text, err := io.ReadAll(response.Body)
	require.NoError(c.t, err)
	require.NoError(c.t, response.Body.Close())
	block, _ := pem.Decode(text)
	require.NotNil(c.t, block)
	certificate, err := x509.ParseCertificate(block.Bytes)
	require.NoError(c.t, err)
	_, err = certificate.Verify(x509.VerifyOptions{DNSName: dsrDomain, Roots: c.authority})
	require.NoError(c.t, err)
	c.key = certificate.PublicKey.(*rsa.PublicKey)
	status, said := c.ask(http.MethodGet, "/discovery", nil)
	require.Equal(c.t, http.StatusOK, status)
	require.Equal(c.t, "1.0", said["api_version"])
	require.Equal(c.t, []any{"erasure"}, said["supported_subject_request_types"])
	require.Equal(c.t, "https://"+dsrDomain+"/opendsr/v1/certificate.pem", said["processor_certificate"])
	require.Contains(c.t, said["supported_identities"],
		map[string]any{"identity_type": "controller_customer_id", "identity_format": "raw"})
}

func (c *dsrClient) request(id, callback string, extra map[string]any) []byte {
	c.t.Helper()
	r := map[string]any{
		"regulation": "gdpr", "subject_request_id": id, "subject_request_type": "erasure", "api_version": "1.0",
		"submitted_time": time.Now().UTC().Format(time.RFC3339), "status_callback_urls": []string{callback},
	}
	for name, value := range extra {
		r[name] = value
	}
	body, err := json.Marshal(r)
	require.NoError(c.t, err)
	return body
}

// A privacy tool finds out what is supported, asks for an erasure, is called back until it is done, and
// takes another one back; every answer and callback is signed for the domain.
func TestAPrivacyToolAsksByOpenDSR(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 4, 60, 41)
	config := servicetest.SmallConfig(t, t.TempDir())
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	certificate, key, authority := servicetest.Certificate(t, dsrDomain, private)
	config.OpenDSR.Domain, config.OpenDSR.CertificateFile, config.OpenDSR.KeyFile = dsrDomain, certificate, key
	config.OpenDSR.AllowPrivate, config.OpenDSR.FirstWait = true, time.Millisecond
	s := servicetest.Start(t, config)
	s.Replay(stream)
	c := &dsrClient{t: t, base: "http://" + s.HTTPAddress() + "/opendsr/v1", authority: authority}
	callbacks := httptest.NewServer(c)
	t.Cleanup(callbacks.Close)
	c.discover()

	const id, other = "a7551968-d5d6-44b2-9831-815ac9017798", "B7551968-D5D6-44B2-9831-815AC9017798"
	transactions := func(ids ...lethe.TransactionID) map[string]any {
		return map[string]any{"extensions": map[string]any{
			dsrDomain: map[string]any{"transactions": ids}, "another.example": map[string]any{"x": 1},
		}}
	}
	body := c.request(id, callbacks.URL+"/callbacks", transactions(servicetest.LabelledIllicit(stream, 2)[0]))
	status, said := c.ask(http.MethodPost, "/opendsr_requests", body)
	require.Equal(t, http.StatusCreated, status, said)
	require.Equal(t, id, said["subject_request_id"])
	require.Equal(t, base64.StdEncoding.EncodeToString(body), said["encoded_request"])
	for _, name := range []string{"controller_id", "expected_completion_time", "received_time"} {
		require.NotEmpty(t, said[name], name)
	}
	s.Await(func(*service.Status) bool {
		status, said = c.ask(http.MethodGet, "/opendsr_requests/"+id, nil)
		require.Equal(t, http.StatusOK, status)
		return said["request_status"] == "completed"
	})
	require.Equal(t, "https://"+dsrDomain+"/api/v1/erasures/"+id+"/receipt", said["results_url"])
	s.Await(func(*service.Status) bool {
		told := c.statuses(id)
		return len(told) > 0 && told[len(told)-1] == "completed"
	})
	require.Equal(t, "pending", c.statuses(id)[0])

	// What is done cannot be taken back, nor asked for again.
	status, _ = c.ask(http.MethodDelete, "/opendsr_requests/"+id, nil)
	require.Equal(t, http.StatusBadRequest, status)
	status, _ = c.ask(http.MethodPost, "/opendsr_requests", body)
	require.Equal(t, http.StatusBadRequest, status)

	// A customer whom a hold keeps: the request waits, and is taken back. Tools of before ask by the old name.
	held := servicetest.LabelledIllicit(stream, 3)[0]
	_, err = requests.SetHold(t.Context(), s.Client(), ingest.Hold{
		Name: "litigation", Transactions: []lethe.TransactionID{held}, Reason: "court", RequestedAt: time.Now(),
	})
	require.NoError(t, err)
	body = c.request(other, callbacks.URL+"/callbacks", transactions(held))
	status, said = c.ask(http.MethodPost, "/opengdpr_requests", body)
	require.Equal(t, http.StatusCreated, status, said)
	s.Await(func(*service.Status) bool {
		status, said = c.ask(http.MethodDelete, "/opendsr_requests/"+other, nil)
		return status == http.StatusAccepted
	})
	require.Equal(t, other, said["subject_request_id"])
	require.NotEmpty(t, said["controller_id"])
	s.Await(func(*service.Status) bool {
		told := c.statuses(other)
		return len(told) > 0 && told[len(told)-1] == "cancelled"
	})

	// The state names whom to call back, and forgets it when that is done.
	s.Await(func(*service.Status) bool {
		kept, err := os.ReadFile(service.OpenDSRPath(config.DataDir))
		return err == nil && !bytes.Contains(kept, []byte(id)) && !bytes.Contains(kept, []byte(other))
	})
	c.refusals(callbacks.URL)
}

// refusals are what is wrong with requests; nothing that was sent is repeated.
func (c *dsrClient) refusals(callback string) {
	c.t.Helper()
	const id = "c7551968-d5d6-44b2-9831-815ac9017798"
	person := map[string]any{
		"identity_type": "controller_customer_id", "identity_value": "customer-77", "identity_format": "raw",
	}
	people := func(changed map[string]any) map[string]any {
		one := map[string]any{}
		for name, value := range person {
			one[name] = value
		}
		for name, value := range changed {
			one[name] = value
		}
		return map[string]any{"subject_identities": []any{one}}
	}
	for name, body := range map[string][]byte{
		"no JSON":   []byte(`{"subject_request_id":`),
		"no id":     c.request("customer-77", callback, people(nil)),
		"access":    c.request(id, callback, map[string]any{"subject_request_type": "access"}),
		"nobody":    c.request(id, callback, nil),
		"email":     c.request(id, callback, people(map[string]any{"identity_type": "email"})),
		"hashed":    c.request(id, callback, people(map[string]any{"identity_format": "sha256"})),
		"time":      c.request(id, callback, map[string]any{"submitted_time": "customer-77"}),
		"elsewhere": c.request(id, "http://169.254.169.254/", people(nil)),
		"law":       c.request(id, callback, map[string]any{"regulation": "customer-77"}),
	} {
		status, said := c.ask(http.MethodPost, "/opendsr_requests", body)
		require.Equal(c.t, http.StatusBadRequest, status, name)
		text, err := json.Marshal(said)
		require.NoError(c.t, err)
		require.NotContains(c.t, string(text), "customer-77", name)
		require.Contains(c.t, string(text), `"code":400`, name)
	}
	for _, unknown := range []string{id, "customer-77"} {
		status, _ := c.ask(http.MethodGet, "/opendsr_requests/"+unknown, nil)
		require.Equal(c.t, http.StatusNotFound, status)
	}
}
