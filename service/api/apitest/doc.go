// Package apitest compares requests and responses with an OpenAPI description. It reads the part of OpenAPI 3.1 that
// lethe's description uses and rejects every other keyword, so that nothing in the description goes unchecked.
// Validators for all of OpenAPI take six minutes of a processor to compile.
package apitest
