package tables

import (
	_ "embed"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"lethe/internal/atomicfile"
)

//go:embed preface.md
var preface string

// Preface says how the tables are to be read, and where and why the paper's
// figures cannot be reached. It opens a document of all tables.
func Preface() string { return preface }

// Write puts a finished table into a folder: name.md, name.csv and every figure
// as SVG and PNG. It returns the paths written.
func (out *Output) Write(dir, name string) ([]string, error) {
	var paths []string
	file := func(ending string, write func(io.Writer) error) error {
		path := filepath.Join(dir, name+ending)
		var text strings.Builder
		if err := write(&text); err != nil {
			return err
		}
		if err := atomicfile.Write(path, []byte(text.String()), 0o644); err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
		paths = append(paths, path)
		return nil
	}
	if err := file(".md", func(w io.Writer) error { return out.Markdown(w, 1, name) }); err != nil {
		return nil, err
	}
	if err := file(".csv", out.Data.CSV); err != nil {
		return nil, err
	}
	drawn, err := out.Draw(dir, name, ".svg", ".png")
	return append(paths, drawn...), err
}

// Draw puts every figure into a folder, in the formats that the endings name. It
// returns the paths written.
func (out *Output) Draw(dir, name string, endings ...string) ([]string, error) {
	var paths []string
	for _, f := range out.Figures {
		for _, ending := range endings {
			path := filepath.Join(dir, f.stem(name)+ending)
			if err := f.Save(path); err != nil {
				return nil, err
			}
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// Markdown writes the tables under headings of a level and links the figures,
// which Draw has put where name, seen from the text, leads.
func (out *Output) Markdown(w io.Writer, level int, name string) error {
	for i, t := range out.Tables {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := t.Markdown(w, level); err != nil {
			return err
		}
	}
	for _, f := range out.Figures {
		if _, err := fmt.Fprintf(w, "\n![%s](%s.svg)\n", f.Title, f.stem(name)); err != nil {
			return err
		}
	}
	return nil
}

// stem is the figure's file name without its ending.
func (f NamedFigure) stem(name string) string {
	if f.Name == "" {
		return name
	}
	return name + "-" + strings.ToLower(f.Name)
}
