package opendsr

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"lethe/deletions"
	"lethe/pipeline/view"
)

const (
	// Prefix begins every address. After it comes v1 or v3, the specification's major version.
	Prefix = "/opendsr/"
	// CertificatePath is where the certificate is that answers and callbacks are signed with.
	CertificatePath = Prefix + "v1/certificate.pem"
)

// Asked is a request as lethe takes it.
type Asked struct {
	RequestID              string
	Subjects, Transactions []string
	Reason                 string
	Deadline               time.Time
	// Ignored are kinds of identities that the request has and lethe does not hold, such as "email, raw".
	Ignored []string
}

// Actions are what lethe does. Their errors are Refused where the one who asked has to do something.
type Actions struct {
	Submit func(ctx context.Context, a Asked) error
	Cancel func(ctx context.Context, requestID string) error
	// Look writes down that who asks sees where a request stands. Nothing is told before.
	Look func(ctx context.Context, requestID string) error
}

// RefusedError says why something is not done.
type RefusedError struct {
	Status int
	Detail string
}

// Error implements error.
func (r *RefusedError) Error() string { return r.Detail }

// Options says what is served.
type Options struct {
	// Domain is that of this processor of data: the certificate is for it.
	Domain string
	Signer Signer
	// View returns what statuses are read from; nil while there is nothing to read.
	View    func() *view.Reader
	Actions Actions
	// Controller names the caller in answers; empty where nobody logs in.
	Controller func(r *http.Request) string
	// AllowPrivate allows callbacks to private networks, and without TLS.
	AllowPrivate bool
	// StatePath is a file of the package's own.
	StatePath string
	// Tries and FirstWait are those of callbacks.
	Tries     int
	FirstWait time.Duration
	Now       func() time.Time
	Logger    *slog.Logger
}

// Signer signs answers and callbacks.
type Signer struct {
	key crypto.Signer
	// certificate is what /discovery leads to, in PEM.
	certificate []byte
}

// ErrCertificate refuses what cannot sign for the domain.
var ErrCertificate = errors.New("certificate of OpenDSR")

// NewSigner reads a certificate, and those that signed it, and its key. The specification wants one that an
// authority has issued for the domain, not one that has signed itself.
func NewSigner(certificateFile, keyFile, domain string, now time.Time) (s Signer, err error) {
	pair, err := tls.LoadX509KeyPair(certificateFile, keyFile)
	if err != nil {
		return s, fmt.Errorf("%w: %w", ErrCertificate, err)
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return s, fmt.Errorf("%w: %w", ErrCertificate, err)
	}
	key, can := pair.PrivateKey.(crypto.Signer)
	switch pair.PrivateKey.(type) {
	case *rsa.PrivateKey, *ecdsa.PrivateKey:
	default:
		can = false
	}
	switch {
	case !can:
		return s, fmt.Errorf("%w %s: its key is neither RSA nor ECDSA", ErrCertificate, certificateFile)
	case leaf.VerifyHostname(domain) != nil:
		return s, fmt.Errorf("%w %s: it is not for the domain %s", ErrCertificate, certificateFile, domain)
	case now.After(leaf.NotAfter) || now.Before(leaf.NotBefore):
		return s, fmt.Errorf("%w %s: it is not valid now", ErrCertificate, certificateFile)
	case leaf.CheckSignatureFrom(leaf) == nil || leaf.Subject.String() == leaf.Issuer.String():
		return s, fmt.Errorf("%w %s: it has signed itself, which OpenDSR forbids", ErrCertificate, certificateFile)
	}
	text, err := os.ReadFile(certificateFile)
	if err != nil {
		return s, fmt.Errorf("%w: %w", ErrCertificate, err)
	}
	return Signer{key, text}, nil
}

// Service serves the interface and calls back.
type Service struct {
	o      Options
	client *http.Client
	state  *state
	// changed wakes the callbacks.
	changed chan struct{}
}

// statusOf is what OpenDSR calls a state.
func statusOf(s deletions.State) string {
	switch s {
	case deletions.Verified:
		return statusCompleted
	case deletions.Cancelled, deletions.Rejected:
		return statusCancelled
	case deletions.Received, deletions.Accepted, deletions.Held, deletions.Suppressed:
		return statusPending
	default:
		return statusInProgress
	}
}

const (
	statusPending    = "pending"
	statusInProgress = "in_progress"
	statusCompleted  = "completed"
	statusCancelled  = "cancelled"
)
