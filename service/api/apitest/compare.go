package apitest

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Request compares a request, whose body is given, with the description.
func (d *Description) Request(q *http.Request, sent []byte) error {
	r, in := d.route(q.Method, q.URL.Path)
	if r == nil {
		return fmt.Errorf("%w: there is no %s %s", ErrDiffers, q.Method, q.URL.Path)
	}
	query := q.URL.Query()
	for i, p := range r.Parameters {
		values := query[p.Name]
		if p.In == "path" {
			values = []string{in[p.Name]}
		}
		delete(query, p.Name)
		if p.Required && len(values) == 0 || len(values) > 1 {
			return fmt.Errorf("%w: %d values of %s", ErrDiffers, len(values), p.Name)
		}
		for _, value := range values {
			if err := d.text(r.parameterAt(i), value); err != nil {
				return fmt.Errorf("%s: %w", p.Name, err)
			}
		}
	}
	if len(query) > 0 {
		return fmt.Errorf("%w: no parameters %v", ErrDiffers, query)
	}
	switch {
	case r.RequestBody == nil && len(sent) == 0:
		return nil
	case r.RequestBody == nil:
		return fmt.Errorf("%w: it has a body", ErrDiffers)
	case len(sent) == 0 && !r.RequestBody.Required:
		return nil
	}
	return d.content(q.Header, r.RequestBody.Content, sent, r.bodyAt)
}

// Response compares the response to a request, whose body is given, with the description.
func (d *Description) Response(q *http.Request, response *http.Response, got []byte) error {
	r, _ := d.route(q.Method, q.URL.Path)
	if r == nil {
		return fmt.Errorf("%w: there is no %s %s", ErrDiffers, q.Method, q.URL.Path)
	}
	status := strconv.Itoa(response.StatusCode)
	answer, ok := r.Responses[status]
	if !ok {
		status = "default"
		if answer, ok = r.Responses[status]; !ok {
			return fmt.Errorf("%w: status %d", ErrDiffers, response.StatusCode)
		}
	}
	for name, header := range answer.Headers {
		value := response.Header.Get(name)
		if value == "" {
			if header.Required {
				return fmt.Errorf("%w: there is no header %s", ErrDiffers, name)
			}
			continue
		}
		if err := d.text(r.headerAt(status, name), value); err != nil {
			return fmt.Errorf("header %s: %w", name, err)
		}
	}
	if len(answer.Content) == 0 && len(got) == 0 {
		return nil
	}
	return d.content(response.Header, answer.Content, got, func(kind string) string { return r.answerAt(status, kind) })
}

// content compares a body with the schema of its type.
func (d *Description) content(h http.Header, kinds map[string]media, body []byte, at func(kind string) string) error {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if _, ok := kinds[kind]; err != nil || !ok {
		return fmt.Errorf("%w: a body of type %q", ErrDiffers, h.Get("Content-Type"))
	}
	if !strings.HasSuffix(kind, "json") {
		return d.value(at(kind), string(body))
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDiffers, err)
	}
	return d.value(at(kind), value)
}

// text compares a parameter or a header: a number if its schema requires one.
func (d *Description) text(at, text string) error {
	if d.value(at, text) == nil {
		return nil
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return fmt.Errorf("%w: %q", ErrDiffers, text)
	}
	return d.value(at, value)
}

func (d *Description) value(at string, value any) error {
	if err := d.schemas[at].Validate(value); err != nil {
		return fmt.Errorf("%w: %w", ErrDiffers, err)
	}
	return nil
}
