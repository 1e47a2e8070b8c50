package command

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Table writes rows in aligned columns: numbers to the right, words to the left. The first row is
// the heading; all rows have the same length.
func Table(w io.Writer, rows [][]string) error {
	width, words := make([]int, len(rows[0])), make([]bool, len(rows[0]))
	for i, row := range rows {
		for j, cell := range row {
			width[j] = max(width[j], utf8.RuneCountInString(cell))
			words[j] = words[j] || i > 0 && strings.IndexFunc(cell, unicode.IsLetter) == 0
		}
	}
	var out strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for j, cell := range row {
			pad := strings.Repeat(" ", width[j]-utf8.RuneCountInString(cell))
			if words[j] {
				line.WriteString("  " + cell + pad)
			} else {
				line.WriteString("  " + pad + cell)
			}
		}
		out.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// OrDash prints a measure, or a dash where it is not defined.
func OrDash(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.3f", *v)
}
