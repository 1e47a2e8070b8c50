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
	// Prefix begins every path. It is followed by v1 or v3, the specification's major version.
	Prefix = "/opendsr/"
	// CertificatePath is the path of the certificate that responses and callbacks are signed with.
	CertificatePath = Prefix + "v1/certificate.pem"
)

// Asked is a parsed request.
type Asked struct {
	RequestID              string
	Subjects, Transactions []string
	Reason                 string
	Deadline               time.Time
	// Ignored are kinds of identities in the request that lethe does not store, such as "email, raw".
	Ignored []string
}

// Actions are lethe's operations. Their errors are RefusedError if the caller has to act on them.
type Actions struct {
	Submit func(ctx context.Context, a Asked) error
	Cancel func(ctx context.Context, requestID string) error
	// Look logs that the caller sees the status of a request. It is called before anything is
	// shown.
	Look func(ctx context.Context, requestID string) error
}

// RefusedError is the reason why a request is rejected.
type RefusedError struct {
	Status int
	Detail string
}

// Error implements error.
func (r *RefusedError) Error() string { return r.Detail }

// Options configures the interface.
type Options struct {
	// Domain is the domain of this data processor: the certificate must be issued for it.
	Domain string
	Signer Signer
	// View returns the source of statuses; nil while there is none.
	View    func() *view.Reader
	Actions Actions
	// Controller names the caller in responses; empty without authentication.
	Controller func(r *http.Request) string
	// AllowPrivate allows callbacks to private networks, and without TLS.
	AllowPrivate bool
	// StatePath is a file for this package only.
	StatePath string
	// Tries and FirstWait configure the retries of callbacks.
	Tries     int
	FirstWait time.Duration
	Now       func() time.Time
	Logger    *slog.Logger
}

// Signer signs responses and callbacks.
type Signer struct {
	key crypto.Signer
	// certificate is the certificate that /discovery refers to, in PEM.
	certificate []byte
}

// ErrCertificate marks a certificate or key that cannot sign for the domain.
var ErrCertificate = errors.New("certificate of OpenDSR")

// NewSigner reads a certificate with its chain, and its key. The specification requires one that an
// authority has issued for the domain, not a self-signed one.
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

// Service serves the interface and makes callbacks.
type Service struct {
	o      Options
	client *http.Client
	state  *state
	// changed wakes the callback loop.
	changed chan struct{}
}

// statusOf is the OpenDSR status of a state.
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
