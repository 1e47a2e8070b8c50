package kms

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"lethe/internal/secretfile"
)

const (
	// vaultPrefix begins every ciphertext of transit; the version of its key follows.
	vaultPrefix = "vault:v"
	// requestLimit is the timeout of one request; callers that wait retry.
	requestLimit = 3 * time.Second
	// mostAnswerBytes is far above the size of a sealed key.
	mostAnswerBytes = 1 << 20
)

// vault is the transit engine of HashiCorp Vault (https://developer.hashicorp.com/vault/api-docs/secret/transit).
// The sealing key never leaves it.
type vault struct {
	Config
	client *http.Client
}

func newVault(c Config) (*vault, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	// Secrets come directly from the configured server, never through a proxy.
	transport.Proxy = nil
	if c.CAFile != "" {
		text, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, fmt.Errorf("ca_file: %w", err)
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("ca_file %s holds no certificate in PEM", c.CAFile)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	return &vault{c, &http.Client{
		Transport: transport, Timeout: requestLimit,
		// A redirect must not send the token to another address.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// String implements Keeper.
func (v *vault) String() string {
	return fmt.Sprintf("transit key %s/%s of %s", v.Mount, v.Key, v.Address)
}

// Seal implements Keeper.
func (v *vault) Seal(ctx context.Context, plain []byte) (string, error) {
	var out struct {
		Ciphertext string `json:"ciphertext"`
	}
	err := v.ask(ctx, "encrypt", map[string]string{"plaintext": base64.StdEncoding.EncodeToString(plain)}, &out)
	if err == nil && !IsSealed([]byte(out.Ciphertext)) {
		err = fmt.Errorf("%w: %s answers without a ciphertext", ErrRefused, v)
	}
	return out.Ciphertext, err
}

// Unseal implements Keeper.
func (v *vault) Unseal(ctx context.Context, sealed string) ([]byte, error) {
	var out struct {
		Plaintext *string `json:"plaintext"`
	}
	err := v.ask(ctx, "decrypt", map[string]string{"ciphertext": strings.TrimSpace(sealed)}, &out)
	if err != nil {
		return nil, err
	}
	if out.Plaintext == nil {
		return nil, fmt.Errorf("%w: %s answers without a plaintext", ErrRefused, v)
	}
	plain, err := base64.StdEncoding.DecodeString(*out.Plaintext)
	if err != nil {
		return nil, fmt.Errorf("%w: %s answers with a plaintext that is not base64", ErrRefused, v)
	}
	return plain, nil
}

// ask sends one request to the transit engine. Errors never contain request or response bodies, which are secret.
func (v *vault) ask(ctx context.Context, operation string, body map[string]string, into any) error {
	token, err := v.token()
	if err != nil {
		return err
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	url := strings.TrimRight(v.Address, "/") + "/v1/" + v.Mount + "/" + operation + "/" + v.Key
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Vault-Token", token)
	// Vault can be configured to reject requests without this header, as protection against SSRF.
	request.Header.Set("X-Vault-Request", "true")
	if v.Namespace != "" {
		request.Header.Set("X-Vault-Namespace", v.Namespace)
	}
	response, err := v.client.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return unreachable(err)
	}
	defer response.Body.Close() //nolint:errcheck // nothing was written
	answer, err := io.ReadAll(io.LimitReader(response.Body, mostAnswerBytes))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrAway, err)
	}
	if response.StatusCode != http.StatusOK {
		return v.refusal(operation, response.StatusCode, answer)
	}
	var data struct {
		Data any `json:"data"`
	}
	data.Data = into
	if err := json.Unmarshal(answer, &data); err != nil {
		return fmt.Errorf("%w: %s answers %s with something else than JSON (is kms.address right?)", ErrRefused, v, operation)
	}
	return nil
}

// unreachable distinguishes an untrusted certificate, which an operator must fix, from a server
// that is away.
func unreachable(err error) error {
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &certificate) {
		return fmt.Errorf("%w: %w (kms.ca_file names its authority)", ErrRefused, err)
	}
	return fmt.Errorf("%w: %w", ErrAway, err)
}

// token reads the token, whose file is rewritten when it is renewed.
func (v *vault) token() (string, error) {
	token, err := secretfile.ReadLine(v.TokenFile)
	if err != nil {
		return "", fmt.Errorf("%w: kms.token_file: %w", ErrRefused, err)
	}
	if token = strings.TrimSpace(token); token == "" || strings.Contains(token, " ") {
		return "", fmt.Errorf("%w: kms.token_file %s holds no token of one line", ErrRefused, v.TokenFile)
	}
	return token, nil
}

// refusal converts an answer other than 200 into an error.
func (v *vault) refusal(operation string, status int, answer []byte) error {
	var response struct {
		Errors []string `json:"errors"`
	}
	reason := http.StatusText(status)
	if json.Unmarshal(answer, &response) == nil && len(response.Errors) > 0 {
		// Vault's messages describe the problem without repeating the request.
		reason = fmt.Sprintf("%.200s", strings.Join(response.Errors, "; "))
	}
	why := func(kind error, hint string) error {
		return fmt.Errorf("%w: %s answers %d to %s: %s%s", kind, v, status, operation, reason, hint)
	}
	switch {
	case status == http.StatusForbidden:
		return why(ErrRefused, fmt.Sprintf(" (the token needs update on %s/%s/%s, and to be in force)", v.Mount, operation,
			v.Key))
	case status == http.StatusNotFound:
		return why(ErrRefused, " (is a transit engine at kms.mount, and the namespace right?)")
	case status == http.StatusTooManyRequests, status == 472, status == 473, status >= 500:
		// Sealed, a standby, or overloaded.
		return why(ErrAway, "")
	default:
		return why(ErrRefused, " (is kms.key the key that has sealed it?)")
	}
}
