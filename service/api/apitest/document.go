package apitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// document is the part of OpenAPI 3.1 that descriptions may use.
type document struct {
	OpenAPI string `json:"openapi"`
	Info    struct{ Title, Version, Summary, Description string }
	Servers []struct{ URL string }
	Tags    []struct{ Name string }
	// Paths are operations by path and method.
	Paths      map[string]map[string]operation
	Components struct {
		Schemas map[string]json.RawMessage
	}
}

type operation struct {
	OperationID string `json:"operationId"`
	Summary     string
	Description string
	Tags        []string
	Parameters  []parameter
	RequestBody *body `json:"requestBody"`
	Responses   map[string]response
}

type parameter struct {
	Name, In, Description string
	Required              bool
	Schema                json.RawMessage
}

type body struct {
	Required bool
	Content  map[string]media
}

type response struct {
	Description string
	Headers     map[string]struct {
		Description string
		Required    bool
		Schema      json.RawMessage
	}
	Content map[string]media
}

type media struct{ Schema json.RawMessage }

// read decodes a description and rejects keywords that are not in document.
func read(text []byte) (*document, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	out := &document{}
	if err := decoder.Decode(out); err != nil {
		return nil, fmt.Errorf("read the description: %w", err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, fmt.Errorf("read the description: %w behind its end", err)
	}
	if out.OpenAPI != "3.1.0" || out.Info.Title == "" || out.Info.Version == "" || len(out.Servers) != 1 {
		return nil, fmt.Errorf("a description of OpenAPI %q has a title, a version and one server", out.OpenAPI)
	}
	return out, nil
}

// check checks OpenAPI's requirements for an operation beyond its form.
func (o *operation) check(path string, tags map[string]bool) error {
	if o.OperationID == "" || len(o.Responses) == 0 {
		return fmt.Errorf("it has no operationId or no responses")
	}
	for _, tag := range o.Tags {
		if !tags[tag] {
			return fmt.Errorf("tag %q is unknown", tag)
		}
	}
	var inPath int
	for _, p := range o.Parameters {
		switch {
		case p.In == "path" && p.Required && strings.Contains(path, "{"+p.Name+"}"):
			inPath++
		case p.In == "query" && !strings.Contains(path, "{"+p.Name+"}"):
		default:
			return fmt.Errorf("parameter %q in %q", p.Name, p.In)
		}
	}
	if inPath != strings.Count(path, "{") {
		return fmt.Errorf("not every part of the path is a parameter")
	}
	for status, answer := range o.Responses {
		if answer.Description == "" {
			return fmt.Errorf("response %s has no description", status)
		}
	}
	return nil
}

// location is the name of the description among the schemas.
const location = "urn:lethe:openapi"

// compiler returns one that knows the schemas of a description.
func compiler(text []byte) (*jsonschema.Compiler, error) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("read the description: %w", err)
	}
	out := jsonschema.NewCompiler()
	out.DefaultDraft(jsonschema.Draft2020)
	out.AssertFormat()
	if err := out.AddResource(location, value); err != nil {
		return nil, fmt.Errorf("read the description: %w", err)
	}
	return out, nil
}

// pointer returns the JSON pointer to a part of the description.
func pointer(parts ...string) string {
	out := location + "#"
	for _, part := range parts {
		part = strings.NewReplacer("~", "~0", "/", "~1").Replace(part)
		out += "/" + strings.NewReplacer("%", "%25", "{", "%7B", "}", "%7D").Replace(part)
	}
	return out
}
