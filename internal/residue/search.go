package residue

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Hit is a form found in a file, or in the name of a file or folder.
type Hit struct {
	Form, Path string
}

// String names the form and the path.
func (h Hit) String() string { return h.Form + " in " + h.Path }

// Report is the result of a search.
type Report struct {
	Hits []Hit
	// Files counts the files read.
	Files int
}

// Search searches every regular file below the folders, and all names, for the forms. Files may
// be replaced meanwhile; a file that is gone holds nothing. A folder without a file, an empty
// list of forms and a form without bytes are errors, because such a search finds nothing, or
// everything, in any case.
func Search(forms []Form, folders ...string) (Report, error) {
	var r Report
	if len(forms) == 0 || len(folders) == 0 {
		return r, fmt.Errorf("search for %d forms in %d folders, want at least one of each", len(forms), len(folders))
	}
	for _, f := range forms {
		if len(f.Bytes) == 0 && f.Text == "" && len(f.Row) == 0 && f.Payment == (Payment{}) && f.Of.ID == "" {
			return r, fmt.Errorf("form %q has no bytes: it stands in every file", f.Name)
		}
	}
	for _, folder := range folders {
		before := r.Files
		if err := r.walk(forms, folder); err != nil {
			return r, fmt.Errorf("search %s: %w", folder, err)
		}
		if r.Files == before {
			return r, fmt.Errorf("search %s: no file is there", folder)
		}
	}
	// The base64 alignments of a form share its name.
	r.Hits = slices.Compact(r.Hits)
	return r, nil
}

func (r *Report) walk(forms []Form, folder string) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		var data []byte
		if err == nil && entry.Type().IsRegular() {
			data, err = os.ReadFile(path)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case entry.Type().IsRegular():
			r.Files++
		}
		holds := looking(forms, data)
		for _, f := range forms {
			if holds(f) || f.isIn([]byte(path)) {
				r.Hits = append(r.Hits, Hit{f.Name, path})
			}
		}
		return nil
	})
}

// In returns the names of the forms found in data.
func In(forms []Form, data []byte) (names []string) {
	holds := looking(forms, data)
	for _, f := range forms {
		if holds(f) {
			names = append(names, f.Name)
		}
	}
	return slices.Compact(names)
}

// looking returns a function that reports whether data holds a form. JSON is decoded once, and
// only if a form needs it.
func looking(forms []Form, data []byte) func(Form) bool {
	var content decoded
	if slices.ContainsFunc(forms, func(f Form) bool {
		return f.Text != "" || len(f.Row) > 0 || f.Payment != (Payment{}) || f.Of.ID != ""
	}) {
		content = decodeAll(data)
	}
	return func(f Form) bool { return f.isIn(data) || content.holds(f) }
}

// isIn reports whether data contains the form's bytes.
func (f Form) isIn(data []byte) bool { return len(f.Bytes) > 0 && bytes.Contains(data, f.Bytes) }
