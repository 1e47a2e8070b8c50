package view

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/scoring"
)

// Content is the content of a stopped role's folder.
type Content struct {
	Predictions int
	// Problems are contradictions.
	Problems []string
}

// ReadContent reads and checks the role's store. erased are the hashes of erased transactions, none of which it may
// hold. The error is fs.ErrNotExist if there is no store.
func ReadContent(fsys vfs.FS, dir string, secret lethe.Secret, erased []lethe.Digest) (_ *Content, err error) {
	if _, err := fsys.Stat(filepath.Join(dir, stateFolder)); err != nil {
		return nil, fmt.Errorf("view role: %w", err) // opening would create an empty store
	}
	store, err := openStore(fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("view role: %w", err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	c := new(Content)
	gone := make(map[name]bool, len(erased))
	for _, target := range erased {
		gone[nameOf(secret, target)] = true
	}
	for _, check := range []func(*swapstore.Store, lethe.Secret, map[name]bool) error{c.readPredictions, c.readNodes} {
		if err := check(store, secret, gone); err != nil {
			return nil, fmt.Errorf("view role: %w", err)
		}
	}
	return c, nil
}

func (c *Content) problem(format string, args ...any) {
	c.Problems = append(c.Problems, fmt.Sprintf(format, args...))
}

// readPredictions checks predictions against names, indexes and counts.
func (c *Content) readPredictions(store *swapstore.Store, secret lethe.Secret, gone map[name]bool) error {
	counts := make(map[lethe.Timestep]Counts)
	held, misnamed, unlisted := 0, 0, 0
	err := store.Scan([]byte(predictionPrefix), func(key, value []byte) error {
		n, err := nameIn(key)
		if err != nil {
			return err
		}
		p, err := decodePrediction(value)
		if err != nil {
			return err
		}
		c.Predictions++
		counts[p.Timestep] = counts[p.Timestep].with(p, 1)
		if gone[n] {
			held++
		}
		if nameOfID(secret, p.Transaction) != n {
			misnamed++
		}
		listed, err := isListed(store, n, p)
		if !listed {
			unlisted++
		}
		return err
	})
	if err != nil {
		return err
	}
	for count, what := range map[*int]string{
		&held: "of erased transactions", &misnamed: "under other names", &unlisted: "that no index has",
	} {
		if *count > 0 {
			c.problem("the view holds %d predictions %s", *count, what)
		}
	}
	stored, err := readCounts(store)
	if err != nil {
		return err
	}
	for t, want := range counts {
		if stored[t] != want {
			c.problem("the view counts %d predictions of timestep %d, and holds %d", stored[t].Predictions, t, want.Predictions)
		}
	}
	return nil
}

func isListed(store *swapstore.Store, n name, p *scoring.Prediction) (bool, error) {
	for _, key := range rankKeys(n, p.Timestep, p.Probability, isAlert(p)) {
		if _, found, err := store.Get(key); err != nil || !found {
			return false, err
		}
	}
	return true, nil
}

// readNodes looks for erased transactions.
func (c *Content) readNodes(store *swapstore.Store, _ lethe.Secret, gone map[name]bool) error {
	for prefix, what := range map[string]string{nodePrefix: "graphs", reasonsPrefix: "reasons"} {
		held := 0
		err := store.Scan([]byte(prefix), func(key, _ []byte) error {
			n, err := nameIn(key)
			if gone[n] {
				held++
			}
			return err
		})
		if err != nil {
			return err
		}
		if held > 0 {
			c.problem("the view holds %d erased transactions in %s", held, what)
		}
	}
	return nil
}
