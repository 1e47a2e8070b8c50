package secure

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"lethe/internal/secretfile"
)

// clientConfig reads the certificates and returns the configuration of a connection.
func clientConfig(t *TLS, address string) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if config.ServerName == "" {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		config.ServerName = host
	}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, fileError("kafka.tls.ca_file", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fileError("kafka.tls.ca_file", fmt.Errorf("%s: no certificate in PEM is in it", t.CAFile))
		}
	}
	if t.CertificateFile != "" {
		own, err := ownCertificate(t)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{own}
	}
	return config, nil
}

func ownCertificate(t *TLS) (tls.Certificate, error) {
	chain, err := os.ReadFile(t.CertificateFile)
	if err != nil {
		return tls.Certificate{}, fileError("kafka.tls.certificate_file", err)
	}
	key, err := secretfile.Read(t.KeyFile)
	if err != nil {
		return tls.Certificate{}, fileError("kafka.tls.key_file", err)
	}
	own, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return own, fileError("kafka.tls.certificate_file", fmt.Errorf("%s and %s: %w", t.CertificateFile, t.KeyFile, err))
	}
	return own, nil
}

// outOfDate returns a RefusedError in place of a broker's TLS alert if our certificate is not valid at a time:
// brokers reject it without giving the reason.
func (d Dialer) outOfDate(err error, now time.Time) error {
	alert, ended := remoteAlert(err)
	if !ended || d.Config.TLS.CertificateFile == "" || !isOfCertificate(alert) {
		return err
	}
	own, failed := ownCertificate(&d.Config.TLS)
	if failed != nil || own.Leaf == nil {
		return err
	}
	const setting = "kafka.tls.certificate_file, or this machine's clock"
	switch {
	case now.After(own.Leaf.NotAfter):
		err = fmt.Errorf("lethe's certificate expired at %s: %w", own.Leaf.NotAfter.UTC().Format(time.RFC3339), alert)
	case now.Before(own.Leaf.NotBefore):
		err = fmt.Errorf("lethe's certificate is valid from %s on: %w", own.Leaf.NotBefore.UTC().Format(time.RFC3339), alert)
	default:
		return err
	}
	return &RefusedError{Setting: setting, Err: err}
}

// isOfCertificate reports whether the peer ended the connection because of our certificate, or the lack of one,
// see RFC 8446, section 6.2.
func isOfCertificate(alert error) bool {
	text := alert.Error()
	return strings.Contains(text, "certificate") || strings.Contains(text, "access denied") ||
		strings.Contains(text, "decrypt")
}

// tlsSetting returns why TLS ended a connection and which setting to check; both are empty if
// waiting may help.
func tlsSetting(err error) (setting string, cause error) {
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var header tls.RecordHeaderError
	alert, ended := remoteAlert(err)
	switch {
	case errors.As(err, &authority):
		return "kafka.tls.ca_file", fmt.Errorf("the broker's certificate is not trusted: %w", authority)
	case errors.As(err, &host):
		return "kafka.tls.server_name", fmt.Errorf("the broker's certificate is made out to others: %w", host)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "ssl.keystore.location of the broker, or this machine's clock",
			fmt.Errorf("the broker's certificate is not valid now: %w", invalid)
	case errors.As(err, &invalid):
		return "ssl.keystore.location of the broker", fmt.Errorf("the broker's certificate is not valid: %w", invalid)
	case errors.As(err, &header):
		return "kafka.tls.enabled", fmt.Errorf("it speaks no TLS on this port: %w", header)
	case ended:
		return alertSetting(alert)
	default:
		return "", nil
	}
}

// remoteAlert returns the TLS alert with which the peer ended the connection. The type for alerts
// is private to package tls.
func remoteAlert(err error) (alert error, ok bool) {
	var operation *net.OpError
	if errors.As(err, &operation) && operation.Op == "remote error" {
		return operation.Err, true
	}
	return nil, false
}

// alertSetting is tlsSetting for an alert of the broker, see RFC 8446, section 6.2.
func alertSetting(alert error) (setting string, cause error) {
	switch text := alert.Error(); {
	case strings.Contains(text, "internal error"), strings.Contains(text, "canceled"):
		return "", nil
	case isOfCertificate(alert):
		return "kafka.tls.certificate_file and kafka.tls.key_file",
			fmt.Errorf("the broker does not take lethe's certificate, or wants one: %w", alert)
	default:
		return "ssl.enabled.protocols and ssl.cipher.suites of the broker",
			fmt.Errorf("the broker ends the connection: %w", alert)
	}
}
