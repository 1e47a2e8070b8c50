package apitest_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/service/api/apitest"
)

const description = `{
 "openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "servers": [{"url": "/v1"}], "tags": [{"name": "a"}],
 "paths": {
  "/things/{name}": {"get": {
   "operationId": "thing", "tags": ["a"],
   "parameters": [
    {"name": "name", "in": "path", "required": true, "schema": {"type": "string", "pattern": "^[a-z]+$"}},
    {"name": "limit", "in": "query", "schema": {"type": "integer", "maximum": 5}}
   ],
   "responses": {
    "200": {"description": "It.", "headers": {"Etag": {"required": true, "schema": {"type": "string"}}},
     "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}},
    "304": {"description": "Unchanged."}
   }
  }},
  "/things": {"post": {
   "operationId": "add",
   "requestBody": {"required": true,
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}},
   "responses": {"default": {"description": "Any.", "content": {"text/plain": {"schema": {"type": "string"}}}}}
  }}
 },
 "components": {"schemas": {"Thing": {"type": "object", "required": ["size"], "additionalProperties": false,
  "properties": {"size": {"type": "integer"}}}}}
}`

func TestADescriptionThatIsNotValidIsRejected(t *testing.T) {
	_, err := apitest.Read([]byte(description))
	require.NoError(t, err)
	for old, replacement := range map[string]string{
		`"3.1.0"`:                         `"3.0.0"`,
		`"tags": ["a"]`:                   `"tags": ["b"]`,
		`"description": "Any."`:           `"description": ""`,
		`"operationId": "add"`:            `"operationId": "thing"`,
		`"in": "query"`:                   `"in": "cookie"`,
		`"name": "name"`:                  `"name": "nom"`,
		`"requestBody": {"required"`:      `"requestBody": {"needed"`,
		`"type": "integer", "maximum": 5`: `"type": "whole"`,
		`"size": {"type": "integer"}`:     `"size": {"type": 3}`,
		`schemas/Thing"}}}},`:             `schemas/Things"}}}},`,
	} {
		require.Contains(t, description, old)
		_, err := apitest.Read([]byte(strings.Replace(description, old, replacement, 1)))
		require.Error(t, err, replacement)
	}
}

func TestRequestsAreCompared(t *testing.T) {
	d, err := apitest.Read([]byte(description))
	require.NoError(t, err)
	for _, play := range []struct {
		method, path, body string
		ok                 bool
	}{
		{"GET", "/v1/things/a", "", true},
		{"GET", "/v1/things/a?limit=5", "", true},
		{"GET", "/v1/things/a?limit=6", "", false},
		{"GET", "/v1/things/a?limit=x", "", false},
		{"GET", "/v1/things/a?limit=1&limit=2", "", false},
		{"GET", "/v1/things/a?most=1", "", false},
		{"GET", "/v1/things/A", "", false},
		{"GET", "/v1/things/", "", false},
		{"GET", "/things/a", "", false},
		{"GET", "/v1/things/a", "{}", false},
		{"DELETE", "/v1/things/a", "", false},
		{"POST", "/v1/things", `{"size": 1}`, true},
		{"POST", "/v1/things", `{"size": "1"}`, false},
		{"POST", "/v1/things", `{"size": 1, "colour": 2}`, false},
		{"POST", "/v1/things", "{", false},
		{"POST", "/v1/things", "", false},
	} {
		q := httptest.NewRequest(play.method, play.path, http.NoBody)
		q.Header.Set("Content-Type", "application/json")
		err := d.Request(q, []byte(play.body))
		require.Equal(t, play.ok, err == nil, "%+v: %v", play, err)
		if !play.ok {
			require.ErrorIs(t, err, apitest.ErrDiffers)
		}
	}
}

func TestResponsesAreCompared(t *testing.T) {
	d, err := apitest.Read([]byte(description))
	require.NoError(t, err)
	for _, play := range []struct {
		method, path         string
		status               int
		kind, etag, contents string
		ok                   bool
	}{
		{"GET", "/v1/things/a", 200, "application/json; charset=utf-8", "e", `{"size": 1}`, true},
		{"GET", "/v1/things/a", 200, "application/json", "", `{"size": 1}`, false},
		{"GET", "/v1/things/a", 200, "application/json", "e", `{"size": 1.5}`, false},
		{"GET", "/v1/things/a", 200, "application/json", "e", `{}`, false},
		{"GET", "/v1/things/a", 200, "text/plain", "e", `{"size": 1}`, false},
		{"GET", "/v1/things/a", 304, "", "", "", true},
		{"GET", "/v1/things/a", 304, "", "", "body", false},
		{"GET", "/v1/things/a", 404, "application/json", "", "{}", false},
		{"GET", "/v1/others", 200, "application/json", "", "{}", false},
		{"POST", "/v1/things", 500, "text/plain", "", "any", true},
		{"POST", "/v1/things", 500, "application/json", "", "{}", false},
	} {
		response := &http.Response{StatusCode: play.status, Header: make(http.Header)}
		response.Header.Set("Content-Type", play.kind)
		response.Header.Set("Etag", play.etag)
		err := d.Response(httptest.NewRequest(play.method, play.path, http.NoBody), response, []byte(play.contents))
		require.Equal(t, play.ok, err == nil, "%+v: %v", play, err)
	}
}
