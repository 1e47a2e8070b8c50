package dataset

import (
	"errors"
	"fmt"
)

// ErrMalformed marks a data set with invalid content: a row, a column or a whole file violates the
// format. The caller should show the error to the user, who has to repair or replace the file; a
// retry does not help.
var ErrMalformed = errors.New("malformed data set")

// ErrNotDataset marks a path that is not a directory with Elliptic's three files. The caller should show the error,
// which names the missing files.
var ErrNotDataset = errors.New("not a data set")

// ErrNotEmpty marks a directory that is not empty. The caller should ask the user for another
// directory or for permission to overwrite.
var ErrNotEmpty = errors.New("folder is not empty")

// RowError describes where and why a CSV file is invalid. It never repeats the content.
// errors.Is(err, ErrMalformed) is true for it.
type RowError struct {
	File string
	// Row counts lines from 1, a header included; 0 means the whole file.
	Row int
	// Column counts from 1; 0 means the whole row.
	Column int
	Reason string
}

// Error returns the file, the row, the column and the reason.
func (e *RowError) Error() string {
	switch {
	case e.Row == 0:
		return fmt.Sprintf("%s: %s", e.File, e.Reason)
	case e.Column == 0:
		return fmt.Sprintf("%s: row %d: %s", e.File, e.Row, e.Reason)
	default:
		return fmt.Sprintf("%s: row %d, column %d: %s", e.File, e.Row, e.Column, e.Reason)
	}
}

// Unwrap makes every RowError an ErrMalformed.
func (e *RowError) Unwrap() error { return ErrMalformed }
