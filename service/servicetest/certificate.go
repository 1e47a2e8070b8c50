package servicetest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// NewKey is a key for a certificate.
func NewKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return key
}

// Certificate writes a certificate for a name, which may be an address, and its key. An authority has signed it that
// whoever trusts the pool trusts.
func Certificate(t testing.TB, name string, key crypto.Signer) (file, keyFile string, trusted *x509.CertPool) {
	t.Helper()
	from, until := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	authorityKey := NewKey(t)
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: from, NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, authority, authority, authorityKey.Public(), authorityKey)
	require.NoError(t, err)
	authority, err = x509.ParseCertificate(der)
	require.NoError(t, err)
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotBefore: from, NotAfter: until,
	}
	if address := net.ParseIP(name); address != nil {
		leaf.IPAddresses = []net.IP{address}
	} else {
		leaf.DNSNames = []string{name}
	}
	der, err = x509.CreateCertificate(rand.Reader, leaf, authority, key.Public(), authorityKey)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	dir := t.TempDir()
	file, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{
		file: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: private},
	} {
		require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
	}
	trusted = x509.NewCertPool()
	trusted.AddCert(authority)
	return file, keyFile, trusted
}
