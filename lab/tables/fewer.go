package tables

import (
	"fmt"
	"slices"
	"strings"

	"lethe/lab/report"
)

// fewer collects which rows are measured on fewer splits than a table is of: a text on
// the splits, and the models that it is true of.
type fewer []shortRow

type shortRow struct {
	splits string
	models []string
}

// add notes a row if it has some of the splits and not all.
func (f *fewer) add(o Options, dataset, model string, seeds []uint64) {
	if len(seeds) == 0 || len(seeds) == o.Splits {
		return
	}
	splits := fmt.Sprintf("%s: seeds %v alone", dataset, seeds)
	i := slices.IndexFunc(*f, func(r shortRow) bool { return r.splits == splits })
	if i < 0 {
		i = len(*f)
		*f = append(*f, shortRow{splits: splits})
	}
	(*f)[i].models = append((*f)[i].models, model)
}

func (f fewer) note(t *report.Table) {
	for _, r := range f {
		t.Note("%s (%s).", r.splits, strings.Join(r.models, ", "))
	}
}
