package api_test

import (
	"fmt"

	errs "github.com/pb33f/libopenapi-validator/errors"
)

// texts are what a validator has to say.
func texts(problems []*errs.ValidationError) (out []string) {
	for _, p := range problems {
		text := p.Message + ": " + p.Reason
		for _, schema := range p.SchemaValidationErrors {
			text += fmt.Sprintf("; %s at %s", schema.Reason, schema.FieldPath)
		}
		out = append(out, text)
	}
	return out
}
