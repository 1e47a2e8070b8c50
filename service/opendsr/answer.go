package opendsr

import (
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"lethe/deletions"
)

// Sign returns the signature of a body: of its SHA-256, PKCS #1 v1.5 with RSA or ASN.1 with ECDSA, in
// base64 (FIPS 186-4).
func (s Signer) Sign(body []byte) (string, error) {
	sum := sha256.Sum256(body)
	signature, err := s.key.Sign(rand.Reader, sum[:], crypto.SHA256)
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	return base64.StdEncoding.EncodeToString(signature), nil
}

// signedHeaders are the signature headers of a response or callback, under the current and the
// previous names.
func (s *Service) signedHeaders(body []byte) (http.Header, error) {
	signature, err := s.o.Signer.Sign(body)
	if err != nil {
		return nil, err
	}
	h := make(http.Header)
	for _, name := range []string{"X-OpenDSR", "X-OpenGDPR"} {
		h.Set(name+"-Processor-Domain", s.o.Domain)
		h.Set(name+"-Signature", signature)
	}
	h.Set("Content-Type", "application/json")
	return h, nil
}

// answer responds with signed JSON.
func (s *Service) answer(w http.ResponseWriter, status int, what any) {
	body, err := json.Marshal(what)
	var headers http.Header
	if err == nil {
		headers, err = s.signedHeaders(body)
	}
	if err != nil {
		s.o.Logger.Error("an answer of OpenDSR", "error", err)
		writeError(w, &RefusedError{http.StatusInternalServerError, "the answer could not be signed; the log says why"})
		return
	}
	for name, values := range headers {
		w.Header()[name] = values
	}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write(body) //nolint:errcheck // the caller went away
}

// errorBody is the error object of section 7.6.
type errorBody struct {
	Error errorObject `json:"error"`
}

type errorObject struct {
	Code    int           `json:"code"`
	Message string        `json:"message"`
	Errors  []errorDetail `json:"errors"`
}

type errorDetail struct {
	Domain  string `json:"domain"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

func refuse(detail string) error { return &RefusedError{http.StatusBadRequest, detail} }

// Refuse responds with an error object.
func Refuse(w http.ResponseWriter, status int, detail string) {
	writeError(w, &RefusedError{status, detail})
}

func writeError(w http.ResponseWriter, r *RefusedError) {
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(r.Status)
	what := errorBody{errorObject{r.Status, r.Detail, []errorDetail{{"lethe", http.StatusText(r.Status), r.Detail}}}}
	json.NewEncoder(w).Encode(what) //nolint:errcheck // the caller went away
}

// fail responds with an error; internal details are only logged.
func (s *Service) fail(w http.ResponseWriter, err error) {
	var refused *RefusedError
	if !errors.As(err, &refused) {
		s.o.Logger.Error("a request of OpenDSR", "error", err)
		refused = &RefusedError{http.StatusServiceUnavailable, "it could not be done; the log says why"}
	}
	writeError(w, refused)
}

// created is the response to a request (section 7.3).
type created struct {
	ControllerID string    `json:"controller_id"`
	Expected     time.Time `json:"expected_completion_time"`
	Received     time.Time `json:"received_time"`
	// Encoded is the request, which is not stored.
	Encoded    string `json:"encoded_request"`
	ID         string `json:"subject_request_id"`
	APIVersion string `json:"api_version"`
	// Extensions names ignored identities, under the processor's domain.
	Extensions map[string]details `json:"extensions,omitempty"`
}

// statusAnswer is a status (8.3), or with CallbackURL a callback (8.6).
type statusAnswer struct {
	ControllerID string    `json:"controller_id"`
	Expected     time.Time `json:"expected_completion_time"`
	CallbackURL  string    `json:"status_callback_url,omitempty"`
	ID           string    `json:"subject_request_id"`
	Status       string    `json:"request_status"`
	APIVersion   string    `json:"api_version"`
	// ResultsURL is the URL of the signed receipt.
	ResultsURL string `json:"results_url,omitempty"`
	// Extensions has, under the processor's domain, details that the four statuses of OpenDSR
	// cannot express.
	Extensions map[string]details `json:"extensions,omitempty"`
}

// details is the state of a request in lethe's terms.
type details struct {
	// Result is the result of a verified request: completed may mean that nothing was stored.
	Result deletions.Result `json:"result,omitempty"`
	// Summary is the text that all interfaces show.
	Summary string `json:"summary,omitempty"`
	// Ignored are the kinds of identities, such as "email, raw", that are not used for erasure. They are stored
	// until every address in status_callback_urls has accepted the final status.
	Ignored []string `json:"ignored_identities,omitempty"`
}

// extensions are the processor's own, if there are details.
func (s *Service) extensions(more details) map[string]details {
	if more.Result == "" && more.Summary == "" && len(more.Ignored) == 0 {
		return nil
	}
	return map[string]details{s.o.Domain: more}
}

// cancelled is the response to a cancellation (9.2).
type cancelled struct {
	ControllerID string    `json:"controller_id"`
	ID           string    `json:"subject_request_id"`
	Received     time.Time `json:"received_time"`
	APIVersion   string    `json:"api_version"`
}
