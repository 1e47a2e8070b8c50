package swapstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe/internal/swapstore"
)

func open(t *testing.T, dir string, fs vfs.FS) *swapstore.Store {
	t.Helper()
	s, err := swapstore.Open(fs, dir, swapstore.Format{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func content(t require.TestingT, r swapstore.Reader) map[string]string {
	out := map[string]string{}
	require.NoError(t, r.Scan(nil, func(key, value []byte) error {
		out[string(key)] = string(value)
		return nil
	}))
	return out
}

func set(t *testing.T, s *swapstore.Store, pairs map[string]string) {
	t.Helper()
	require.NoError(t, s.Apply(func(w swapstore.Writer) error {
		for _, k := range slices.Sorted(maps.Keys(pairs)) {
			w.Set([]byte(k), []byte(pairs[k]))
		}
		return nil
	}))
}

func remove(t require.TestingT, s *swapstore.Store, key []byte) {
	require.NoError(t, s.Apply(func(w swapstore.Writer) error { w.Delete(key); return nil }))
}

// without returns a fill function that copies all keys but some.
func without(drop ...string) func(swapstore.Reader, swapstore.Writer) error {
	return func(src swapstore.Reader, dst swapstore.Writer) error {
		return src.Scan(nil, func(key, value []byte) error {
			if slices.Contains(drop, string(key)) {
				return nil
			}
			dst.Set(key, value)
			return nil
		})
	}
}

func TestTranscript(t *testing.T) {
	fs := vfs.NewMem()
	s, err := swapstore.Open(fs, "store", swapstore.Format{})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	datadriven.RunTest(t, "testdata/store", func(t *testing.T, d *datadriven.TestData) string {
		lines := strings.Split(d.Input, "\n")
		switch d.Cmd {
		case "apply":
			err = s.Apply(func(w swapstore.Writer) error { return write(w, lines) })
		case "rewrite":
			err = s.Rewrite(context.Background(), func(_ swapstore.Reader, w swapstore.Writer) error { return write(w, lines) })
		case "rewrite-without":
			err = s.Rewrite(context.Background(), without(lines...))
		case "get":
			value, found, err := s.Get([]byte(lines[0]))
			return fmt.Sprintf("%q %t %v\n", value, found, err)
		case "scan":
			var b strings.Builder
			err = s.Scan([]byte(lines[0]), func(key, value []byte) error {
				fmt.Fprintf(&b, "%q = %q\n", key, value)
				return nil
			})
			return b.String()
		case "reopen":
			require.NoError(t, s.Close())
			s, err = swapstore.Open(fs, "store", swapstore.Format{})
		case "list":
			names, err := fs.List("store")
			require.NoError(t, err)
			slices.Sort(names)
			return fmt.Sprintf("generation %d: %s\n", s.Generation(), strings.Join(names, " "))
		}
		if err != nil {
			return err.Error() + "\n"
		}
		return "ok\n"
	})
}

func write(w swapstore.Writer, lines []string) error {
	for _, line := range lines {
		key, value, isSet := strings.Cut(line, "=")
		switch {
		case line == "":
		case line == "fail":
			return errors.New("asked to fail")
		case isSet:
			w.Set([]byte(key), []byte(value))
		default:
			w.Delete([]byte(strings.TrimPrefix(line, "-")))
		}
	}
	return nil
}

// A rewriting that has failed reads no more of a store, which may be large.
func TestRewrite_FailedWriter_EndsTheScan(t *testing.T) {
	s := open(t, "store", vfs.NewMem())
	set(t, s, map[string]string{"a": "1", "b": "2", "c": "3", "d": "4"})
	read := 0
	err := s.Rewrite(t.Context(), func(src swapstore.Reader, dst swapstore.Writer) error {
		return src.Scan(nil, func(_, value []byte) error {
			read++
			dst.Set([]byte("the same key"), value)
			return nil
		})
	})
	require.ErrorIs(t, err, swapstore.ErrOrder)
	require.Equal(t, 2, read)
	value, found, err := s.Get([]byte("d"))
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, "4", string(value))
}

func TestScanOfPrefixAtTheEndOfTheKeySpace(t *testing.T) {
	s := open(t, "store", vfs.NewMem())
	set(t, s, map[string]string{"a\xff": "1", "a\xff\xff": "2", "b": "3", "\xff": "4", "\xff\xff": "5"})
	prefixes := []string{"a\xff", "\xff", ""}
	got := make([]string, 0, len(prefixes))
	for _, prefix := range prefixes {
		var keys []string
		require.NoError(t, s.Scan([]byte(prefix), func(key, _ []byte) error {
			keys = append(keys, string(key))
			return nil
		}))
		got = append(got, fmt.Sprintf("%q", keys))
	}
	require.Equal(t, []string{
		`["a\xff" "a\xff\xff"]`, `["\xff" "\xff\xff"]`, `["a\xff" "a\xff\xff" "b" "\xff" "\xff\xff"]`,
	}, got)
}

func TestCancelledRewriteChangesNothing(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, "store", fs)
	set(t, s, map[string]string{"a": "1"})
	ctx, cancel := context.WithCancel(context.Background())
	err := s.Rewrite(ctx, func(_ swapstore.Reader, _ swapstore.Writer) error {
		cancel()
		return nil
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, map[string]string{"a": "1"}, content(t, s))
	names, err := fs.List("store")
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"CURRENT-GEN", "LOCK", "g000001"}, names)
}

func TestOpenRefusesADamagedFolder(t *testing.T) {
	for name, damage := range map[string]func(dir string) error{
		"no pointer":    func(dir string) error { return os.Remove(filepath.Join(dir, "CURRENT-GEN")) },
		"empty pointer": func(dir string) error { return os.WriteFile(filepath.Join(dir, "CURRENT-GEN"), nil, 0o600) },
		"cut pointer": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "CURRENT-GEN"), []byte("g000001"), 0o600)
		},
		"odd pointer": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "CURRENT-GEN"), []byte("g01\n"),
				0o600)
		},
		"cut manifest":       func(dir string) error { return halve(filepath.Join(dir, "g000001", "MANIFEST-*")) },
		"missing generation": func(dir string) error { return os.RemoveAll(filepath.Join(dir, "g000001")) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s, err := swapstore.Open(vfs.Default, dir, swapstore.Format{})
			require.NoError(t, err)
			set(t, s, map[string]string{"a": "1"})
			require.NoError(t, s.Close())
			require.NoError(t, damage(dir))
			_, err = swapstore.Open(vfs.Default, dir, swapstore.Format{})
			require.ErrorIs(t, err, swapstore.ErrCorrupt)
		})
	}
}

// halve cuts the only file that the pattern names to half its length.
func halve(pattern string) error {
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) != 1 {
		return fmt.Errorf("%d files are named %s: %w", len(found), pattern, err)
	}
	info, err := os.Stat(found[0])
	if err != nil {
		return err
	}
	return os.Truncate(found[0], info.Size()/2)
}

// A table that was cut short is found when it is read, at the latest.
func TestADamagedTableIsFoundWhenItIsRead(t *testing.T) {
	dir := t.TempDir()
	s, err := swapstore.Open(vfs.Default, dir, swapstore.Format{})
	require.NoError(t, err)
	require.NoError(t, s.Rewrite(t.Context(), func(_ swapstore.Reader, w swapstore.Writer) error {
		w.Set([]byte("a"), bytes.Repeat([]byte("1"), 1000))
		return nil
	}))
	require.NoError(t, s.Close())
	require.NoError(t, halve(filepath.Join(dir, "g000002", "*.sst")))
	s, err = swapstore.Open(vfs.Default, dir, swapstore.Format{})
	if err == nil {
		_, _, err = s.Get([]byte("a"))
		require.ErrorIs(t, err, swapstore.ErrCorrupt)
		err = s.Scan(nil, func(_, _ []byte) error { return nil })
		require.NoError(t, s.Close())
	}
	require.ErrorIs(t, err, swapstore.ErrCorrupt)
}

func TestClosedStoreRefusesEverything(t *testing.T) {
	s, err := swapstore.Open(vfs.NewMem(), "store", swapstore.Format{})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	_, _, err = s.Get([]byte("a"))
	require.ErrorIs(t, err, swapstore.ErrClosed)
	require.ErrorIs(t, s.Scan(nil, nil), swapstore.ErrClosed)
	require.ErrorIs(t, s.Apply(nil), swapstore.ErrClosed)
	require.ErrorIs(t, s.Rewrite(context.Background(), nil), swapstore.ErrClosed)
	require.Zero(t, s.Generation())
}

func TestSecondOpenIsRefused(t *testing.T) {
	dir := t.TempDir()
	open(t, dir, vfs.Default)
	_, err := swapstore.Open(vfs.Default, dir, swapstore.Format{})
	require.Error(t, err)
}

// Readers beside a writer that rewrites all the time must see one generation's
// content, whole. Meant for -race.
func TestReadersBesideRewrites(t *testing.T) {
	s := open(t, "store", vfs.NewMem())
	fill := func(value string) func(swapstore.Reader, swapstore.Writer) error {
		return func(_ swapstore.Reader, w swapstore.Writer) error {
			return write(w, []string{"a=" + value, "b=" + value})
		}
	}
	require.NoError(t, s.Rewrite(context.Background(), fill("start")))
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				got := content(t, s)
				if len(got) != 2 || got["a"] != got["b"] {
					t.Errorf("read half of a rewrite: %v", got)
					return
				}
			}
		})
	}
	for i := range 20 {
		require.NoError(t, s.Rewrite(context.Background(), fill(fmt.Sprint(i))))
	}
	close(stop)
	wg.Wait()
	require.Equal(t, map[string]string{"a": "19", "b": "19"}, content(t, s))
}
