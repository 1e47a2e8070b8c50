package dataset

import (
	"errors"
	"fmt"
)

// ErrMalformed marks a data set whose content cannot be taken: a row, a column
// or a whole file is not what the format says. The caller should show the error to
// the user, who has to repair or replace the file; trying again does not help.
var ErrMalformed = errors.New("malformed data set")

// ErrNotDataset marks a path that is no folder with Elliptic's three files. The
// caller should show the error, which says what is missing.
var ErrNotDataset = errors.New("not a data set")

// ErrNotEmpty marks a folder that holds files already. The caller should ask
// the user for another folder or for leave to overwrite.
var ErrNotEmpty = errors.New("folder is not empty")

// RowError says where a CSV file is wrong and why. It never repeats what the
// file holds. errors.Is(err, ErrMalformed) is true for it.
type RowError struct {
	File string
	// Row counts lines from 1, a header included; 0 stands for the whole file.
	Row int
	// Column counts from 1; 0 stands for the whole row.
	Column int
	Reason string
}

// Error names the file, the row, the column and the reason.
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
