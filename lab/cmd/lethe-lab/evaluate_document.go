package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"lethe/internal/atomicfile"
	"lethe/lab/tables"
)

// document is all tables in one Markdown text, which links their figures.
type document struct {
	text strings.Builder
	// chapters are the tables in order; figures lie in a folder beside the text.
	chapters   []chapter
	unmeasured []string
}

type chapter struct {
	output *tables.Output
	name   string
}

// document begins with the command that makes these tables again.
func (c *evaluateCmd) document() *document {
	flags := ""
	if c.Quick {
		flags += " --quick"
	}
	if c.Finished {
		flags += " --finished"
	}
	d := &document{}
	fmt.Fprintf(&d.text, "# Results\n\nMade by `lethe-lab evaluate %s --data DATA --out OUT --splits %d --seed %d%s "+
		"--results docs/results.md`.\n",
		c.Table, c.Splits, c.Seed, flags)
	if c.Finished {
		fmt.Fprint(&d.text, "It shows what is finished; without `--finished` the same command measures the rest.\n")
	}
	if c.Splits < paperSplits {
		fmt.Fprintf(&d.text, "The paper averages %d splits: the same command with `--splits %[1]d` does. Over fewer, "+
			"differences of two or three points are chance.\n", paperSplits)
	}
	fmt.Fprintf(&d.text, "\n%s", tables.Preface())
	return d
}

func (d *document) add(output *tables.Output, name string) {
	d.chapters = append(d.chapters, chapter{output, name})
}

func (d *document) missing(name string) { d.unmeasured = append(d.unmeasured, name) }

// save writes the text to a file and the figures into the folder of its name and
// "-figures".
func (d *document) save(file string) error {
	folder := strings.TrimSuffix(file, filepath.Ext(file)) + "-figures"
	for _, c := range d.chapters {
		if len(c.output.Figures) > 0 {
			if err := os.MkdirAll(folder, 0o755); err != nil {
				return err
			}
		}
		if _, err := c.output.Draw(folder, c.name, ".svg"); err != nil {
			return err
		}
		fmt.Fprintln(&d.text)
		if err := c.output.Markdown(&d.text, 2, path.Join(filepath.Base(folder), c.name)); err != nil {
			return err
		}
	}
	if len(d.unmeasured) > 0 {
		fmt.Fprintf(&d.text, "\nNot run yet: %s.\n", strings.Join(d.unmeasured, ", "))
	}
	return atomicfile.Write(file, []byte(d.text.String()), 0o644)
}
