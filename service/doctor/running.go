package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"lethe/service"
)

// mostAnswerBytes is far above the size of any response.
const mostAnswerBytes = 8 << 20

// service queries the service that runs with this configuration, if there is one.
func (f *findings) service(ctx context.Context, o Options) {
	const check = "service"
	address := "http://" + o.Config.HTTP.Address
	if o.Config.HTTP.TLS.Enabled() {
		client, err := trusting(o.HTTP, o.Config.HTTP.TLS.CertificateFile)
		if err != nil {
			f.bad(check, err.Error(), "correct http.tls.certificate_file")
			return
		}
		o.HTTP, address = client, "https://"+o.Config.HTTP.Address
		defer client.CloseIdleConnections()
	}
	code, ready, err := fetch(ctx, o.HTTP, address+"/readyz")
	if errors.Is(err, syscall.ECONNREFUSED) {
		f.ok(check, "no service runs at "+address+", so its state was not checked")
		return
	}
	if err != nil {
		f.bad(check, "the service at "+address+" does not answer: "+err.Error(),
			"see whether its process hangs or the address is another one's, and restart it")
		return
	}
	var wrong []string
	for line := range strings.Lines(string(ready)) {
		if component, reason, found := strings.Cut(strings.TrimSpace(line), ": not ok: "); found {
			wrong = append(wrong, component)
			f.bad(check, component+": "+reason, "see the log of the service, and docs/operations.md")
		}
	}
	if code == http.StatusOK && len(wrong) == 0 {
		f.ok(check, "the one at "+address+" is ready")
	} else if len(wrong) == 0 {
		f.bad(check, fmt.Sprintf("%s/readyz answers %d: it is no lethe", address, code),
			"choose another address with --http-address")
		return
	}
	code, answer, err := fetch(ctx, o.HTTP, address+"/api/v1/status")
	var status service.Status
	if code == http.StatusUnauthorized {
		f.warn(check, "the one at "+address+" asks for a token, so its version and what it waits for were not checked",
			"run lethe status --token-file with a token of a viewer")
		return
	}
	if err != nil || code != http.StatusOK || json.Unmarshal(answer, &status) != nil {
		return // it is still starting
	}
	for _, w := range status.Waiting {
		since := w.Since.UTC().Format(time.RFC3339)
		message := fmt.Sprintf("%s (since %s; the %s's move)", w.Message, since, w.Move)
		if w.Decided() {
			f.warn("waiting", message, w.Do)
		} else {
			f.bad("waiting", message, w.Do)
		}
	}
	if status.Version != o.Version {
		f.warn("version", fmt.Sprintf("the service is %s, this program is %s", status.Version, o.Version),
			"use one version for all processes and commands")
		return
	}
	f.ok("version", "the service is of this program's version, "+o.Version)
}

// trusting returns a client that trusts only the certificate in a file: it may be for a name that does not resolve
// to this machine, by an authority that this machine does not know.
func trusting(client *http.Client, certificateFile string) (*http.Client, error) {
	text, err := os.ReadFile(certificateFile)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s: no certificate in PEM", certificateFile)
	}
	own, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", certificateFile, err)
	}
	var name string
	switch {
	case len(own.DNSNames) > 0:
		name = strings.Replace(own.DNSNames[0], "*", "lethe", 1)
	case len(own.IPAddresses) > 0:
		name = own.IPAddresses[0].String()
	}
	roots := x509.NewCertPool()
	roots.AddCert(own)
	config := &tls.Config{RootCAs: roots, ServerName: name, MinVersion: tls.VersionTLS12}
	return &http.Client{Timeout: client.Timeout, Transport: &http.Transport{TLSClientConfig: config}}, nil
}

func fetch(ctx context.Context, client *http.Client, url string) (code int, body []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	body, err = io.ReadAll(io.LimitReader(response.Body, mostAnswerBytes))
	return response.StatusCode, body, err
}
