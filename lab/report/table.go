package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Missing stands in a cell for a figure that there is not.
const Missing = "–"

// Table is a finished table. Every row has one text per column.
type Table struct {
	Title   string
	Columns []string
	Rows    [][]string
	// Notes stand under the table: seeds, settings, what was not run and why.
	Notes []string
}

// Add appends a row and fills it up to the width of the table.
func (t *Table) Add(cells ...string) {
	for len(cells) < len(t.Columns) {
		cells = append(cells, Missing)
	}
	t.Rows = append(t.Rows, cells)
}

// Note appends a line under the table.
func (t *Table) Note(format string, args ...any) {
	t.Notes = append(t.Notes, fmt.Sprintf(format, args...))
}

// Markdown writes the table with aligned columns under a heading of a level.
func (t *Table) Markdown(w io.Writer, level int) error {
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s\n\n", strings.Repeat("#", level), t.Title)
	if len(t.Rows) > 0 {
		widths := make([]int, len(t.Columns))
		for i := range widths {
			for _, row := range append([][]string{t.Columns}, t.Rows...) {
				widths[i] = max(widths[i], utf8.RuneCountInString(escape(row[i])))
			}
		}
		writeRow(&out, t.Columns, widths)
		for _, width := range widths {
			out.WriteString("|" + strings.Repeat("-", width+2))
		}
		out.WriteString("|\n")
		for _, row := range t.Rows {
			writeRow(&out, row, widths)
		}
		out.WriteString("\n")
	}
	for _, note := range t.Notes {
		fmt.Fprintf(&out, "- %s\n", note)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func writeRow(out *strings.Builder, row []string, widths []int) {
	for i, cell := range row {
		cell = escape(cell)
		out.WriteString("| " + cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+1))
	}
	out.WriteString("|\n")
}

// escape keeps a cell from ending early.
func escape(cell string) string { return strings.ReplaceAll(cell, "|", `\|`) }

// CSV writes the columns and rows, without the notes.
func (t *Table) CSV(w io.Writer) error {
	c := csv.NewWriter(w)
	if err := c.WriteAll(append([][]string{t.Columns}, t.Rows...)); err != nil {
		return fmt.Errorf("csv of %s: %w", t.Title, err)
	}
	return nil
}
