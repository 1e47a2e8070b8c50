package apitest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Description is an OpenAPI description whose schemas are compiled.
type Description struct {
	prefix  string
	routes  []*route
	schemas map[string]*jsonschema.Schema
}

// route is an operation with its place in the description.
type route struct {
	operation

	method, path string
}

// ErrDiffers is wrapped by the differences of a request or a response.
var ErrDiffers = errors.New("not as described")

// Read reads a description. An error names the invalid part.
func Read(text []byte) (*Description, error) {
	document, err := read(text)
	if err != nil {
		return nil, err
	}
	compile, err := compiler(text)
	if err != nil {
		return nil, err
	}
	d := &Description{prefix: document.Servers[0].URL, schemas: make(map[string]*jsonschema.Schema)}
	tags, names := make(map[string]bool), make(map[string]bool)
	for _, tag := range document.Tags {
		tags[tag.Name] = true
	}
	var places []string
	for name := range document.Components.Schemas {
		places = append(places, pointer("components", "schemas", name))
	}
	for path, methods := range document.Paths {
		for method, o := range methods {
			if err := o.check(path, tags); err != nil || names[o.OperationID] {
				return nil, fmt.Errorf("%s %s: operationId %q: %w", method, path, o.OperationID, err)
			}
			names[o.OperationID] = true
			r := &route{o, method, path}
			d.routes, places = append(d.routes, r), append(places, r.places()...)
		}
	}
	for _, place := range places {
		if d.schemas[place], err = compile.Compile(place); err != nil {
			return nil, fmt.Errorf("%s: %w", place, err)
		}
	}
	return d, nil
}

// places returns where the schemas of a route are.
func (r *route) places() (out []string) {
	for i := range r.Parameters {
		out = append(out, r.parameterAt(i))
	}
	if r.RequestBody != nil {
		for kind := range r.RequestBody.Content {
			out = append(out, r.bodyAt(kind))
		}
	}
	for status, answer := range r.Responses {
		for kind := range answer.Content {
			out = append(out, r.answerAt(status, kind))
		}
		for name := range answer.Headers {
			out = append(out, r.headerAt(status, name))
		}
	}
	return out
}

func (r *route) parameterAt(i int) string {
	return pointer("paths", r.path, r.method, "parameters", strconv.Itoa(i), "schema")
}

func (r *route) bodyAt(kind string) string {
	return pointer("paths", r.path, r.method, "requestBody", "content", kind, "schema")
}

func (r *route) answerAt(status, kind string) string {
	return pointer("paths", r.path, r.method, "responses", status, "content", kind, "schema")
}

func (r *route) headerAt(status, name string) string {
	return pointer("paths", r.path, r.method, "responses", status, "headers", name, "schema")
}

// route finds the operation of a request, the one with the fewest parameters in its path, and these.
func (d *Description) route(method, path string) (found *route, in map[string]string) {
	path, below := strings.CutPrefix(path, d.prefix)
	if !below {
		return nil, nil
	}
	for _, r := range d.routes {
		values, ok := match(r.path, path)
		if ok && strings.EqualFold(r.method, method) && (found == nil || len(values) < len(in)) {
			found, in = r, values
		}
	}
	return found, in
}

// match compares a path with one that has parameters.
func match(described, path string) (map[string]string, bool) {
	want, have := strings.Split(described, "/"), strings.Split(path, "/")
	values := make(map[string]string)
	if len(want) != len(have) {
		return nil, false
	}
	for i, part := range want {
		name, isParameter := strings.CutPrefix(part, "{")
		switch {
		case isParameter && have[i] != "":
			values[strings.TrimSuffix(name, "}")] = have[i]
		case part != have[i]:
			return nil, false
		}
	}
	return values, true
}
