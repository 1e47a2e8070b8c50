// Package registry publishes the schema of binary records to a schema registry compatible with
// Confluent's. Intake does not query it: records are decoded without the schema that they were
// written with. Producers need a schema id to write.
package registry

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/sr"

	"lethe/ingest/schemas"
	"lethe/internal/secretfile"
)

// ErrRefused marks a permanent rejection by the registry: the address does not exist, the
// credentials are wrong, or its compatibility rules forbid the schema. An operator has to fix it.
var ErrRefused = errors.New("the schema registry does not take the schema")

// timeout bounds one request.
const timeout = 10 * time.Second

// Registry is the address of a schema registry and its credentials.
type Registry struct {
	// URL begins with http:// or https://.
	URL string
	// CredentialsFile, if not empty, is a file of one line, USER:PASSWORD.
	CredentialsFile string
}

// Register publishes the schema of transactions.v1 under a subject, and returns the id that records
// have to carry, 1 or more. A schema that already exists keeps its id. The error is ErrRefused, or
// one of reading the credentials file.
func (r Registry) Register(ctx context.Context, subject string) (id uint32, err error) {
	options := []sr.ClientOpt{sr.URLs(r.URL), sr.HTTPClient(&http.Client{Timeout: timeout}), sr.UserAgent("lethe")}
	if r.CredentialsFile != "" {
		user, password, err := credentials(r.CredentialsFile)
		if err != nil {
			return 0, err
		}
		options = append(options, sr.BasicAuth(user, password))
	}
	client, err := sr.NewClient(options...)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	got, err := client.RegisterSchema(ctx, subject, sr.Schema{Schema: schemas.Transactions, Type: sr.TypeProtobuf}, -1, -1)
	if err != nil {
		return 0, fmt.Errorf("%w: subject %s at %s: %w", ErrRefused, subject, r.URL, err)
	}
	if got < 1 || got > math.MaxInt32 {
		return 0, fmt.Errorf("%w: subject %s at %s: it answers with the id %d, want 1..%d", ErrRefused, subject, r.URL, got,
			math.MaxInt32)
	}
	return uint32(got), nil
}

// Subject returns the subject under which Confluent's serializers look for the schema of
// a topic's values.
func Subject(topic string) string { return topic + "-value" }

// credentials reads USER:PASSWORD from a file that is not readable by everyone.
func credentials(path string) (user, password string, err error) {
	line, err := secretfile.ReadLine(path)
	if err != nil {
		return "", "", err
	}
	user, password, is := strings.Cut(line, ":")
	if !is {
		return "", "", fmt.Errorf("%s: want one line USER:PASSWORD", path)
	}
	return user, password, nil
}
