// Package paper holds what others report for the tables of the evaluation, to be
// printed beside lethe's own figures: the values of the GUIDE paper (Wang, Huai
// and Wang, USENIX Security 2023), and those of an independent implementation
// with PyTorch Geometric on the paper's protocol, which shows what of the paper
// a correct program reaches.
package paper

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
)

//go:embed paper.csv
var paperCSV []byte

//go:embed reference.csv
var referenceCSV []byte

// Key names a figure of the paper. Model and Dataset are written as the paper
// writes them; Method is a column of its table, in the ablations the partition
// and the repair or aggregation, as in "GUIDE-Fast mixup".
type Key struct{ Table, Dataset, Model, Method string }

// Value is a published figure, in percent or seconds.
type Value struct {
	Mean float64
	// Spread is what the paper prints after ±. It fits a hundred times the
	// variance of fractions, not a standard deviation: Deviation converts it.
	Spread float64
}

// Deviation is the standard deviation in points that Spread stands for: the
// authors' program prints variances of fractions, a hundred times which is v,
// so the deviation in points is 100·sqrt(v/100).
func (v Value) Deviation() float64 { return 10 * math.Sqrt(v.Spread) }

// Reference is a figure of the PyTorch Geometric implementation, in percent.
type Reference struct {
	Dataset, Model, Method string
	// Hidden is the width; 8 stands for eight heads of eight, 0 for none.
	Hidden int
	// Test is the accuracy on test nodes, with its standard deviation over
	// splits where that was reported; not a number otherwise. All is that on
	// all nodes.
	Test, Deviation, All float64
	// Splits is how many lab/reference/citation.py measured; 0 for a figure of the
	// program before it, over two to five.
	Splits int
}

// Paper holds the published values.
type Paper struct {
	values     map[Key]Value
	references []Reference
}

// Load reads the values that the program carries.
func Load() (*Paper, error) {
	p := &Paper{values: make(map[Key]Value)}
	if err := eachRow(paperCSV, 6, func(row []string) error {
		mean, err := number(row[4])
		if err != nil {
			return err
		}
		spread, err := number(row[5])
		if err != nil {
			return err
		}
		p.values[Key{row[0], row[1], row[2], row[3]}] = Value{Mean: mean, Spread: spread}
		return nil
	}); err != nil {
		return nil, fmt.Errorf("values of the paper: %w", err)
	}
	if err := eachRow(referenceCSV, 8, func(row []string) error {
		r := Reference{Dataset: row[0], Model: row[1], Method: row[3]}
		var errs [5]error
		r.Hidden, errs[0] = strconv.Atoi(row[2])
		r.Test, errs[1] = number(row[4])
		r.Deviation, errs[2] = number(row[5])
		r.All, errs[3] = number(row[6])
		if row[7] != "" {
			r.Splits, errs[4] = strconv.Atoi(row[7])
		}
		p.references = append(p.references, r)
		for _, err := range errs {
			if err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return nil, fmt.Errorf("reference values: %w", err)
	}
	return p, nil
}

// Value returns a figure of the paper, if it has it.
func (p *Paper) Value(k Key) (Value, bool) {
	v, ok := p.values[k]
	return v, ok
}

// Reference returns the implementation's figure, if it was measured.
func (p *Paper) Reference(dataset, model, method string, hidden int) (Reference, bool) {
	i := slices.IndexFunc(p.references, func(r Reference) bool {
		return r.Dataset == dataset && r.Model == model && r.Method == method && r.Hidden == hidden
	})
	if i < 0 {
		return Reference{}, false
	}
	return p.references[i], true
}

// eachRow reads the rows after the heading, all of which have the same width.
func eachRow(data []byte, width int, take func(row []string) error) error {
	r := csv.NewReader(bytes.NewReader(data))
	r.FieldsPerRecord = width
	rows, err := r.ReadAll()
	if err != nil {
		return err
	}
	for i, row := range rows[1:] {
		if err := take(row); err != nil {
			return fmt.Errorf("row %d: %w", i+2, err)
		}
	}
	return nil
}

// number reads a figure; nothing stands for not a number.
func number(text string) (float64, error) {
	if text == "" {
		return math.NaN(), nil
	}
	return strconv.ParseFloat(text, 64)
}
