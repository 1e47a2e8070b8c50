package opendsr

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"lethe/internal/outbound"
)

// request is a request as defined in section 7.1. Unknown fields are ignored.
type request struct {
	Regulation   string          `json:"regulation"`
	ID           string          `json:"subject_request_id"`
	Type         string          `json:"subject_request_type"`
	Identities   json.RawMessage `json:"subject_identities"`
	Submitted    string          `json:"submitted_time"`
	CallbackURLs []string        `json:"status_callback_urls"`
	Extensions   json.RawMessage `json:"extensions"`
}

// extension is the additional content that this processor accepts.
type extension struct {
	// Transactions are ids.
	Transactions []string `json:"transactions"`
}

const (
	typeErasure = "erasure"
	mostURLs    = 10
	mostTargets = 1000
	// month is the time limit of GDPR article 12, and halfMonth that of Brazil's LGPD, article 19.
	month     = 30 * 24 * time.Hour
	halfMonth = 15 * 24 * time.Hour
	// ahead is how far the caller's clock may be ahead, and oldest the maximum age of a submission.
	ahead  = 24 * time.Hour
	oldest = 10 * 365 * 24 * time.Hour
)

// guid matches a UUID of any version, in either case: two spellings are the same id.
var guid = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// allowed is the time limit under a regulation; ok is false if it is unknown. Without a regulation it is a
// month, which is also less than the limits in the laws of American states.
func allowed(regulation string) (limit time.Duration, ok bool) {
	switch strings.ToLower(regulation) {
	case "", "gdpr", "uk_gdpr", "ccpa", "cpra", "vcdpa", "cpa", "ctdpa", "ucpa", "pipeda", "fadp", "appi", "popia", "pdpa":
		return month, true
	case "lgpd":
		return halfMonth, true
	default:
		return 0, false
	}
}

// parse parses and validates a request. An error repeats nothing from the request.
func (s *Service) parse(body []byte) (r request, asked Asked, err error) {
	if err := json.Unmarshal(body, &r); err != nil {
		return r, asked, refuse(malformed(err))
	}
	limit, known := allowed(r.Regulation)
	switch {
	case !guid.MatchString(r.ID):
		return r, asked, refuse("subject_request_id is not a UUID: send 32 hexadecimal digits in groups of 8-4-4-4-12")
	case !strings.EqualFold(r.Type, typeErasure):
		return r, asked, refuse("subject_request_type is not " + typeErasure + ", the only type that is supported: " +
			"send access and portability requests to the controller")
	case !known:
		return r, asked, refuse("regulation is unknown: send gdpr, uk_gdpr, ccpa, cpra, vcdpa, cpa, ctdpa, ucpa, lgpd, " +
			"pipeda, fadp, appi, popia or pdpa, or leave it out: the erasure is the same under each")
	}
	submitted, err := time.Parse(time.RFC3339, r.Submitted)
	if err != nil {
		return r, asked, refuse("submitted_time is no RFC 3339 time: send one with its zone, such as 2026-11-01T12:00:00Z")
	}
	if age := s.o.Now().Sub(submitted); age < -ahead || age > oldest {
		return r, asked, refuse("submitted_time is out of bounds: send a time within the last ten years, " +
			"and at most a day ahead")
	}
	asked = Asked{
		RequestID: strings.ToLower(r.ID), Reason: "OpenDSR", Deadline: submitted.Add(limit).UTC(),
	}
	if asked.Subjects, asked.Ignored, err = subjectsOf(r.Identities); err != nil {
		return r, asked, err
	}
	if asked.Transactions, err = s.extended(r.Extensions); err != nil {
		return r, asked, err
	}
	targets := len(asked.Subjects) + len(asked.Transactions)
	if targets == 0 || targets > mostTargets {
		return r, asked, refuse(fmt.Sprintf("subject_identities must name 1 to %d customers, each as %s in the format %s%s",
			mostTargets, typeCustomer, formatRaw, butHas(asked.Ignored)))
	}
	return r, asked, s.checkCallbacks(r.CallbackURLs)
}

// malformed names the field of a body that has the wrong JSON type, without its value.
func malformed(err error) string {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) || wrong.Field == "" {
		return "the body is not a JSON object: send one request, as application/json"
	}
	kind, _, _ := strings.Cut(wrong.Value, " ") // the rest may be the value
	want := "a string"
	if wrong.Field == "status_callback_urls" {
		want = "a list of strings"
	}
	return fmt.Sprintf("%s is of the JSON type %s: send %s", wrong.Field, kind, want)
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
		return nil, refuse("extensions is no object of objects: send one for each processor's domain, with a list of " +
			"strings, transactions, in this one's")
	}
	return own.Transactions, nil
}

func (s *Service) checkCallbacks(urls []string) error {
	if len(urls) > mostURLs {
		return refuse(fmt.Sprintf("status_callback_urls has %d addresses: send at most %d", len(urls), mostURLs))
	}
	for _, text := range urls {
		if err := outbound.CheckURL(text, s.o.AllowPrivate); err != nil {
			return refuse("status_callback_urls: an address is not https://host/path of the public network: correct it, " +
				"or leave it out and ask for the status")
		}
		if at, err := url.Parse(text); err != nil || at.Fragment != "" {
			return refuse("status_callback_urls: an address has a fragment (#): send it without")
		}
	}
	return nil
}
