package opendsr

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"time"

	"lethe/internal/outbound"
)

// request is what is asked, as section 7.1 has it. Fields that it does not know are passed over.
type request struct {
	Regulation   string          `json:"regulation"`
	ID           string          `json:"subject_request_id"`
	Type         string          `json:"subject_request_type"`
	Identities   []identity      `json:"subject_identities"`
	Submitted    string          `json:"submitted_time"`
	CallbackURLs []string        `json:"status_callback_urls"`
	Extensions   json.RawMessage `json:"extensions"`
}

// identity names a person.
type identity struct {
	Type   string `json:"identity_type"`
	Value  string `json:"identity_value,omitempty"`
	Format string `json:"identity_format"`
}

// extension is what this processor takes beside identities.
type extension struct {
	// Transactions are ids.
	Transactions []string `json:"transactions"`
}

const (
	typeErasure  = "erasure"
	typeCustomer = "controller_customer_id"
	formatRaw    = "raw"
	mostURLs     = 10
	mostTargets  = 1000
	// month is what GDPR article 12 allows.
	month = 30 * 24 * time.Hour
	// ahead is how far the clock of whoever asks may be ahead, and oldest how long ago a request may have been submitted.
	ahead  = 24 * time.Hour
	oldest = 10 * 365 * 24 * time.Hour
)

var guid = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

// parse reads and checks a request. What it says of what is wrong repeats nothing that was sent.
func (s *Service) parse(body []byte) (r request, asked Asked, err error) {
	if json.Unmarshal(body, &r) != nil {
		return r, asked, refuse("the body is no JSON of a request")
	}
	switch {
	case !guid.MatchString(r.ID):
		return r, asked, refuse("subject_request_id is no UUID of version 4 in lower case")
	case r.Type != typeErasure:
		return r, asked, refuse("subject_request_type must be erasure: see /discovery")
	case !slices.Contains([]string{"", "gdpr", "ccpa"}, r.Regulation):
		return r, asked, refuse("regulation must be gdpr or ccpa")
	}
	submitted, err := time.Parse(time.RFC3339, r.Submitted)
	if err != nil {
		return r, asked, refuse("submitted_time is required, as RFC 3339 has it")
	}
	if age := s.o.Now().Sub(submitted); age < -ahead || age > oldest {
		return r, asked, refuse("submitted_time must be within the last ten years, and at most a day ahead")
	}
	asked = Asked{RequestID: r.ID, Reason: "OpenDSR", Deadline: submitted.Add(month).UTC()}
	for _, one := range r.Identities {
		if one.Type != typeCustomer || one.Format != formatRaw || one.Value == "" {
			return r, asked, refuse("of subject_identities only controller_customer_id, raw, is supported: see /discovery")
		}
		asked.Subjects = append(asked.Subjects, one.Value)
	}
	if asked.Transactions, err = s.extended(r.Extensions); err != nil {
		return r, asked, err
	}
	targets := len(asked.Subjects) + len(asked.Transactions)
	if targets == 0 || targets > mostTargets {
		return r, asked, refuse(fmt.Sprintf("subject_identities must name 1 to %d", mostTargets))
	}
	return r, asked, s.checkCallbacks(r.CallbackURLs)
}

// extended reads the extension of this processor's domain.
func (s *Service) extended(text json.RawMessage) ([]string, error) {
	if len(text) == 0 || string(text) == "null" {
		return nil, nil
	}
	var all map[string]json.RawMessage
	var own extension
	err := json.Unmarshal(text, &all)
	if of, has := all[s.o.Domain]; has && err == nil {
		err = json.Unmarshal(of, &own)
	}
	if err != nil {
		return nil, refuse("extensions must be an object for each processor's domain; this one's has a list transactions")
	}
	return own.Transactions, nil
}

func (s *Service) checkCallbacks(urls []string) error {
	if len(urls) > mostURLs {
		return refuse(fmt.Sprintf("status_callback_urls: at most %d", mostURLs))
	}
	for _, text := range urls {
		if err := outbound.CheckURL(text, s.o.AllowPrivate); err != nil {
			return refuse("status_callback_urls: want https://host/path of the public network")
		}
		if at, err := url.Parse(text); err != nil || at.Fragment != "" {
			return refuse("status_callback_urls: want addresses without a fragment")
		}
	}
	return nil
}
