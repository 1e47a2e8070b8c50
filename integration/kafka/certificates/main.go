// Command certificates makes the certificates of the integration tests' broker and of its
// clients, from an authority of its own, in PEM:
//
//	certificates FOLDER
//
// NAME.crt and NAME.key are a certificate and its key, NAME.pem both in one file, as
// Kafka's key stores have them. "expired" is out of date, "stranger" is of another
// authority; ca.crt is the authority.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: certificates FOLDER")
		os.Exit(2)
	}
	if err := makeAll(os.Args[1], time.Now()); err != nil {
		fmt.Fprintln(os.Stderr, "certificates:", err)
		os.Exit(1)
	}
}

// makeAll writes every certificate into the folder.
func makeAll(folder string, now time.Time) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	const day = 24 * time.Hour
	authority, err := issue(nil, "lethe-test-authority", now.Add(-day), now.Add(30*day))
	if err != nil {
		return err
	}
	other, err := issue(nil, "another-authority", now.Add(-day), now.Add(30*day))
	if err != nil {
		return err
	}
	if err := authority.write(folder, "ca"); err != nil {
		return err
	}
	for _, leaf := range []struct {
		name  string
		of    *pair
		until time.Time
	}{
		{"server", authority, now.Add(20 * day)},
		{"expired", authority, now.Add(-day / 2)},
		{"lethe", authority, now.Add(20 * day)},
		{"stranger", other, now.Add(20 * day)},
	} {
		made, err := issue(leaf.of, leaf.name, now.Add(-day), leaf.until)
		if err != nil {
			return err
		}
		if err := made.write(folder, leaf.name); err != nil {
			return err
		}
	}
	return nil
}

// pair is a certificate and its key.
type pair struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// issue makes a certificate under an authority, or an authority if there is none.
func issue(authority *pair, name string, from, until time.Time) (*pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: from, NotAfter: until,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		DNSNames:    []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	parent, signer := template, key
	if authority == nil {
		template.IsCA, template.BasicConstraintsValid = true, true
		template.KeyUsage = x509.KeyUsageCertSign
		template.ExtKeyUsage, template.DNSNames, template.IPAddresses = nil, nil, nil
	} else {
		parent, signer = authority.certificate, authority.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	return &pair{certificate, key}, err
}

func (p *pair) write(folder, name string) error {
	der, err := x509.MarshalPKCS8PrivateKey(p.key)
	if err != nil {
		return err
	}
	key := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.certificate.Raw})
	for file, content := range map[string][]byte{
		name + ".crt": certificate, name + ".key": key, name + ".pem": append(key, certificate...),
	} {
		if err := os.WriteFile(filepath.Join(folder, file), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}
