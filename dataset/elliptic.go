package dataset

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"lethe"
)

// EllipticOptions says how an Elliptic-style folder is read.
type EllipticOptions struct {
	// Name becomes the stream's name.
	Name string
	// Lenient takes what a strict load refuses although it can be understood:
	// payments between two timesteps (kept in the source's), payments with one
	// end that no transaction has (kept in the other's), payments of a
	// transaction to itself, transactions without a class row (unknown), last
	// rows without a line end, and Elliptic with other counts than published. They
	// enter the stream as they stand, so that it can show how lethe deals with such
	// records.
	Lenient bool
	// Bounds are what the records of the stream will be held to; the zero value holds them to nothing.
	Bounds Bounds
}

// Bounds are limits that intake has by configuration. Zero bounds nothing.
type Bounds struct {
	// Magnitude is on the absolute value of a feature, Features on their number.
	Magnitude float64
	Features  int
	// Jump is on how far a timestep is behind the one before it.
	Jump int
}

// LoadElliptic reads the folder strictly. The stream is named after it.
//
// Errors: ErrNotDataset if a file is missing, ErrMalformed (a RowError with
// file, row and column) if the content cannot be taken, the context's error
// when it ends.
func LoadElliptic(ctx context.Context, dir string) (*Stream, error) {
	return LoadWithin(ctx, dir, Bounds{})
}

// LoadWithin is LoadElliptic of a folder whose records will be held to bounds.
func LoadWithin(ctx context.Context, dir string, bounds Bounds) (*Stream, error) {
	s, err := ReadElliptic(ctx, os.DirFS(dir), EllipticOptions{Name: filepath.Base(filepath.Clean(dir)), Bounds: bounds})
	if err != nil {
		return nil, fmt.Errorf("dataset %s: %w", dir, err)
	}
	return s, nil
}

// ReadElliptic reads the three files, and FeatureNamesFile if it is there, from the root of fsys. Steps ascend by
// timestep; within a step, transactions and payments keep the files' order,
// and labels that of the transactions. Errors are those of LoadElliptic.
func ReadElliptic(ctx context.Context, fsys fs.FS, opts EllipticOptions) (*Stream, error) {
	nodes, err := readFeatures(ctx, fsys, opts)
	if err != nil {
		return nil, err
	}
	labels, err := readClasses(ctx, fsys, nodes, opts)
	if err != nil {
		return nil, err
	}
	payments, repeated, err := readPayments(ctx, fsys, nodes, opts)
	if err != nil {
		return nil, err
	}
	s := assemble(opts.Name, nodes, labels, payments)
	s.Repeated = repeated
	if s.FeatureNames, err = readNames(fsys, s.FeatureCount); err != nil {
		return nil, err
	}
	if !opts.Lenient {
		totals := s.Totals()
		totals.Payments += repeated
		if err := totals.checkPublished(s.FeatureCount); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// assemble sorts the records into steps.
func assemble(name string, nodes *nodeTable, labels []lethe.Label, payments []lethe.Payment) *Stream {
	s := &Stream{Name: name, FeatureCount: nodes.featureCount}
	position := make(map[lethe.Timestep]int)
	for _, t := range nodes.timesteps() {
		position[t] = len(s.Steps)
		s.Steps = append(s.Steps, Step{Timestep: t})
	}
	for i, tx := range nodes.transactions {
		step := &s.Steps[position[tx.Timestep]]
		step.Transactions = append(step.Transactions, tx)
		if labels[i] != lethe.Unknown {
			step.Labels = append(step.Labels, lethe.LabelRecord{ID: tx.ID, Timestep: tx.Timestep, Label: labels[i]})
		}
	}
	for _, p := range payments {
		step := &s.Steps[position[p.Timestep]]
		step.Payments = append(step.Payments, p)
	}
	return s
}
