package swapstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"lethe/internal/swapstore"
)

// Whoever writes goes on while a store is filled anew, and nobody sees that in what he reads.
func TestWritersGoOnWhileAStoreIsFilledAnew(t *testing.T) {
	size := swapstore.Small()
	size.FilterBits = 10
	s, err := swapstore.OpenSized(vfs.NewMem(), "store", swapstore.Format{}, size)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	model := make(map[string]string)
	rng := rand.New(rand.NewPCG(1, 2))
	kept := bytes.Repeat([]byte("kept"), 100)
	require.NoError(t, s.Apply(func(w swapstore.Writer) error {
		for i := range 5000 {
			key := fmt.Sprintf("z%05d", i)
			model[key] = string(kept)
			w.Set([]byte(key), kept)
		}
		return nil
	}))
	stop, rewritten := make(chan struct{}), 0
	var working errgroup.Group
	working.Go(func() error {
		for {
			if err := s.Rewrite(context.Background(), without()); err != nil {
				return err
			}
			rewritten++
			select {
			case <-stop:
				return nil
			default:
			}
		}
	})
	for step := range 1000 {
		apply := []func(func(w swapstore.Writer) error) error{s.Apply, s.ApplyUnsynced}[rng.IntN(2)]
		require.NoError(t, apply(func(w swapstore.Writer) error { return change(w, rng, model) }))
		if step%20 == 0 {
			require.Equal(t, model, content(t, s))
		}
	}
	close(stop)
	require.NoError(t, working.Wait())
	require.Equal(t, model, content(t, s))
	require.Greater(t, rewritten, 3)
}

// change makes some changes, to a model too.
func change(w swapstore.Writer, rng *rand.Rand, model map[string]string) error {
	key := fmt.Sprintf("%c%02d", 'a'+rune(rng.IntN(4)), rng.IntN(60))
	switch rng.IntN(7) {
	case 0:
		maps.DeleteFunc(model, func(k, _ string) bool { return strings.HasPrefix(k, key[:2]) })
		if err := swapstore.DeletePrefix(w, []byte(key[:2])); err != nil {
			return err
		}
		fallthrough // what is written to it after that stays
	case 1, 2, 3:
		value := fmt.Sprint(rng.IntN(3))
		model[key] = value
		w.Set([]byte(key), []byte(value))
	case 4, 5:
		delete(model, key)
		w.Delete([]byte(key))
	default:
		n := fmt.Sprintf("z%05d", rng.IntN(6000))
		delete(model, n)
		w.Delete([]byte(n))
	}
	return nil
}

// What was deleted before a rewriting began, and what came and went while it was filled, is not in the files. What
// others wrote meanwhile is in the store.
func TestWhatWasDeletedIsNotInWhatIsFilledAnew(t *testing.T) {
	dir := t.TempDir()
	s, c := fillWithCanary(t, dir)
	remove(t, s, c.key)
	require.NotEmpty(t, filesWith(t, dir, c.key))
	r, err := swapstore.BeginRewriting(s)
	require.NoError(t, err)
	passing := []byte("row/shared/prefix/it came and went")
	require.NoError(t, r.Fill(t.Context(), func(src swapstore.Reader, dst swapstore.Writer) error {
		set(t, s, map[string]string{"later": "1", string(passing): string(c.value)})
		remove(t, s, passing)
		_, found, err := src.Get([]byte("later"))
		require.NoError(t, err)
		require.False(t, found, "what is filled in is what there was")
		return without()(src, dst)
	}))
	set(t, s, map[string]string{"last": "2"})
	require.NotEmpty(t, filesWith(t, dir, c.key), "the old files are there")
	require.NoError(t, r.Switch())
	set(t, s, map[string]string{"after": "3"})
	require.NoError(t, r.Clean())
	for _, needle := range [][]byte{c.key, c.value, passing} {
		require.Empty(t, filesWith(t, dir, needle))
	}
	for range 2 {
		all := content(t, s)
		require.Len(t, all, 3999+3)
		require.Equal(t, []string{"1", "2", "3"}, []string{all["later"], all["last"], all["after"]})
		require.NoError(t, s.Close())
		s = open(t, dir, vfs.Default)
	}
}

// A rewriting that is given up leaves the store as it is, and the next one can begin; so does one that is closed with
// the store, however far it is.
func TestARewritingThatIsGivenUp(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, "store", fs)
	set(t, s, map[string]string{"a": "1", "b": "2"})
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	failing := errors.New("fails")
	for name, give := range map[string]func(r *swapstore.Rewriting) error{
		"fill fails": func(r *swapstore.Rewriting) error {
			require.ErrorIs(t, r.Fill(t.Context(), func(swapstore.Reader, swapstore.Writer) error { return failing }), failing)
			return nil
		},
		"cancelled": func(r *swapstore.Rewriting) error {
			require.ErrorIs(t, r.Fill(cancelled, without()), context.Canceled)
			return nil
		},
		"not filled": (*swapstore.Rewriting).Abandon,
		"not switched": func(r *swapstore.Rewriting) error {
			return errors.Join(r.Fill(t.Context(), without("a")), r.Abandon(), r.Abandon())
		},
	} {
		r, err := swapstore.BeginRewriting(s)
		require.NoError(t, err, name)
		require.ErrorIs(t, r.Switch(), swapstore.ErrRewriting)
		require.ErrorIs(t, r.Clean(), swapstore.ErrRewriting)
		_, err = swapstore.BeginRewriting(s)
		require.ErrorIs(t, err, swapstore.ErrRewriting)
		require.ErrorIs(t, s.Rewrite(t.Context(), without()), swapstore.ErrRewriting)
		set(t, s, map[string]string{"c": name})
		require.NoError(t, give(r), name)
		require.ErrorIs(t, r.Switch(), swapstore.ErrRewriting, name)
		require.Equal(t, map[string]string{"a": "1", "b": "2", "c": name}, content(t, s), name)
		names, err := fs.List("store")
		require.NoError(t, err)
		require.Len(t, names, 3, "%s: %v", name, names)
	}
	for parts := range 4 {
		r, err := swapstore.BeginRewriting(s)
		require.NoError(t, err)
		if parts > 0 {
			require.NoError(t, r.Fill(t.Context(), without()))
		}
		if parts > 1 {
			require.NoError(t, r.Switch())
		}
		if parts > 2 {
			require.NoError(t, r.Clean())
		}
		want := content(t, s)
		require.NoError(t, s.Close())
		require.NoError(t, r.Abandon())
		s = open(t, "store", fs)
		require.Equal(t, want, content(t, s))
	}
}
