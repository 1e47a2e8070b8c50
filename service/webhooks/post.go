package webhooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"lethe/internal/outbound"
	"lethe/scoring"
)

// delivery is the posted body; its schema is alert-webhook.v1.
type delivery struct {
	Type      string              `json:"type"`
	Timestamp time.Time           `json:"timestamp"`
	Data      *scoring.Prediction `json:"data"`
}

// mostAnswerBytes is how much of a response is read, so that the connection can be reused.
const mostAnswerBytes = 64 << 10

// answer is the result of a try.
type answer struct {
	// status is 0 if there was no response, and err is the cause then.
	status int
	err    error
	// wait is the pause that the receiver requests.
	wait time.Duration
}

// delivered reports whether the receiver has accepted it.
func (a answer) delivered() bool { return a.status >= 200 && a.status < 300 }

// final reports whether another try would have the same result.
func (a answer) final() bool {
	switch a.status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	default:
		return a.status >= 300 && a.status < 500 || errors.Is(a.err, outbound.ErrAddress)
	}
}

// String describes the result without the sent content.
func (a answer) String() string {
	if a.err != nil {
		return a.err.Error()
	}
	return "status " + strconv.Itoa(a.status)
}

// bodyOf is the body for a prediction.
func bodyOf(p *scoring.Prediction, at time.Time) ([]byte, error) {
	body, err := json.Marshal(delivery{"alert", at.UTC().Truncate(time.Second), p})
	if err != nil {
		return nil, fmt.Errorf("alert: fields do not encode as JSON")
	}
	return body, nil
}

// post sends a body once.
func (d *Dispatcher) post(ctx context.Context, id string, body []byte) answer {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.o.URL, bytes.NewReader(body))
	if err != nil {
		return answer{err: err}
	}
	now := d.o.Now()
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "lethe")
	r.Header.Set("Webhook-Id", id)
	r.Header.Set("Webhook-Timestamp", seconds(now))
	r.Header.Set("Webhook-Signature", d.o.Secret.Sign(id, now, body))
	response, err := d.client.Do(r)
	if err != nil {
		return answer{err: outbound.Bare(err)}
	}
	defer response.Body.Close() //nolint:errcheck // nothing was written
	if _, err := io.Copy(io.Discard, io.LimitReader(response.Body, mostAnswerBytes)); err != nil {
		return answer{err: err}
	}
	a := answer{status: response.StatusCode}
	if after, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && after > 0 {
		a.wait = time.Duration(after) * time.Second
	}
	return a
}
