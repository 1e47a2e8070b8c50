package dataset

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"lethe"
	"lethe/internal/atomicfile"
)

// WriteElliptic writes the stream as an Elliptic-style directory, which is created if it does not exist, with
// FeatureNamesFile if the features have names. Values are written so that they are read back bit for bit; the
// generator's ground truth is not written. Each file appears under its name once it is complete.
//
// With force it replaces the stream's files in a directory that is not empty, and leaves other files; without force,
// such a directory is ErrNotEmpty.
func WriteElliptic(dir string, s *Stream, force bool) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write dataset: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("write dataset: %w", err)
	}
	if len(entries) > 0 && !force {
		return fmt.Errorf("write dataset to %s: %w", dir, ErrNotEmpty)
	}
	return errors.Join(
		writeFile(filepath.Join(dir, FeaturesFile), s, writeFeatures),
		writeFile(filepath.Join(dir, EdgesFile), s, writePayments),
		writeFile(filepath.Join(dir, ClassesFile), s, writeClasses),
		writeNames(filepath.Join(dir, FeatureNamesFile), s),
	)
}

// writeNames writes the names of the features, or deletes those of a replaced stream if this one has no names.
func writeNames(path string, s *Stream) error {
	if len(s.FeatureNames) > 0 {
		return writeFile(path, s, WriteNames)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write dataset: %w", err)
	}
	return nil
}

func writeFile(path string, s *Stream, content func(io.Writer, *Stream) error) error {
	err := atomicfile.WriteFrom(path, 0o666, func(w io.Writer) error {
		out := bufio.NewWriterSize(w, 1<<16)
		return errors.Join(content(out, s), out.Flush())
	})
	if err != nil {
		return fmt.Errorf("write dataset: %w", err)
	}
	return nil
}

func writeFeatures(w io.Writer, s *Stream) error {
	var row []byte
	for _, step := range s.Steps {
		for _, tx := range step.Transactions {
			row = append(row[:0], field(tx.ID)...)
			row = strconv.AppendInt(append(row, ','), int64(tx.Timestep), 10)
			for _, v := range tx.Features {
				if row = append(row, ','); !lethe.IsMissing(v) {
					row = strconv.AppendFloat(row, float64(v), 'g', -1, 32)
				}
			}
			if _, err := w.Write(append(row, '\n')); err != nil {
				return err
			}
		}
	}
	return nil
}

// field returns an id as a CSV field, in quotes if necessary.
func field(id lethe.TransactionID) string {
	if !strings.ContainsAny(string(id), `,"`) {
		return string(id)
	}
	return `"` + strings.ReplaceAll(string(id), `"`, `""`) + `"`
}

func writePayments(w io.Writer, s *Stream) error {
	if _, err := io.WriteString(w, "txId1,txId2\n"); err != nil {
		return err
	}
	for _, step := range s.Steps {
		for _, p := range step.Payments {
			if _, err := io.WriteString(w, field(p.Source)+","+field(p.Target)+"\n"); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeClasses(w io.Writer, s *Stream) error {
	if _, err := io.WriteString(w, "txId,class\n"); err != nil {
		return err
	}
	for _, step := range s.Steps {
		labels := make(map[lethe.TransactionID]lethe.Label, len(step.Labels))
		for _, l := range step.Labels {
			labels[l.ID] = l.Label
		}
		for _, tx := range step.Transactions {
			if _, err := io.WriteString(w, field(tx.ID)+","+className(labels[tx.ID])+"\n"); err != nil {
				return err
			}
		}
	}
	return nil
}
