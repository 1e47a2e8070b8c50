package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"lethe/internal/atomicfile"
	"lethe/internal/command"
)

// serviceFlags select a running service.
type serviceFlags struct {
	TokenFile string `help:"File with the access token, if the service requires one." type:"path" placeholder:"FILE"`
	command.ConfigFlags
	URL string `help:"URL of the web interface; by default at http.address." placeholder:"URL"`
}

// request sends a request, with a body of JSON unless it is nil, and returns the status and the body of the response.
// It sets the address.
func (f *serviceFlags) request(
	a *command.App, timeout time.Duration, method, path string, body []byte,
) (status int, text []byte, err error) {
	if f.URL, err = f.address(a); err != nil {
		return 0, nil, err
	}
	request, err := http.NewRequestWithContext(a.Context, method, f.URL+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if err := f.authorise(request); err != nil {
		return 0, nil, err
	}
	client := http.Client{Timeout: timeout}
	response, err := client.Do(request)
	if err != nil {
		var cause *url.Error
		if errors.As(err, &cause) {
			err = cause.Err // the message already has the address
		}
		return 0, nil, fmt.Errorf("no service answers at %s: %w (start one with lethe run, or give its --url)", f.URL, err)
	}
	defer response.Body.Close() //nolint:errcheck // it was read to its end
	if text, err = io.ReadAll(response.Body); err != nil {
		return 0, nil, fmt.Errorf("read the answer of %s: %w", f.URL, err)
	}
	return response.StatusCode, text, nil
}

// address returns the address of the web interface: that of --url, or http.address of the configuration.
func (f serviceFlags) address(a *command.App) (string, error) {
	if f.URL == "" {
		config, err := f.Load(a, nil)
		if err != nil {
			return "", err
		}
		scheme := "http://"
		if config.HTTP.TLS.Enabled() {
			scheme = "https://"
		}
		host, port, err := net.SplitHostPort(config.HTTP.Address)
		if err != nil {
			return "", command.Usagef("http.address is %q, want host:port", config.HTTP.Address)
		}
		if address, err := netip.ParseAddr(host); host == "" || err == nil && address.IsUnspecified() {
			host = "127.0.0.1" // it listens at every address
		}
		return scheme + net.JoinHostPort(host, port), nil
	}
	if u, err := url.Parse(f.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", command.Usagef("--url is %q, want http://host:port", f.URL)
	}
	return f.URL, nil
}

// authorise adds the token to a request, if there is one.
func (f serviceFlags) authorise(r *http.Request) error {
	if f.TokenFile == "" {
		return nil
	}
	const mostBytes = 1 << 10
	token, err := atomicfile.Read(f.TokenFile, mostBytes)
	if err != nil {
		return fmt.Errorf("--token-file: %w", err)
	}
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	return nil
}
