package dataset

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"lethe"
)

// EllipticOptions configures reading an Elliptic-style directory.
type EllipticOptions struct {
	// Name becomes the stream's name.
	Name string
	// Lenient accepts data that a strict load rejects although it is unambiguous: payments between
	// two timesteps (assigned to the source's), payments with one unknown end (assigned to the
	// other end's), payments of a transaction to itself, transactions without a class row
	// (unknown), last rows without a line end, and Elliptic with other counts than published. They
	// are in the stream unchanged, to show how lethe handles such records.
	Lenient bool
	// Bounds are intake's limits for the records; the zero value has none.
	Bounds Bounds
}

// Bounds are configured limits of intake. Zero means no limit.
type Bounds struct {
	// Magnitude bounds the absolute value of a feature, Features their number.
	Magnitude float64
	Features  int
	// First is the first timestep, and Jump bounds the distance from it and between consecutive timesteps.
	First lethe.Timestep
	Jump  int
}

// LoadElliptic reads the directory strictly. The stream is named after it.
//
// Errors: ErrNotDataset if a file is missing, ErrMalformed (a RowError with file, row and column)
// if the content is invalid, the context's error when it ends.
func LoadElliptic(ctx context.Context, dir string) (*Stream, error) {
	return LoadWithin(ctx, dir, Bounds{})
}

// LoadWithin is LoadElliptic with intake's limits.
func LoadWithin(ctx context.Context, dir string, bounds Bounds) (*Stream, error) {
	s, err := ReadElliptic(ctx, os.DirFS(dir), EllipticOptions{Name: filepath.Base(filepath.Clean(dir)), Bounds: bounds})
	if err != nil {
		return nil, fmt.Errorf("dataset %s: %w", dir, err)
	}
	return s, nil
}

// ReadElliptic reads the three files, and FeatureNamesFile if it exists, from the root of fsys. Steps ascend by
// timestep; within a step, transactions and payments keep the files' order, and labels that of the transactions.
// Errors are those of LoadElliptic.
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
