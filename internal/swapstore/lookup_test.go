package swapstore_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe/internal/swapstore"
)

// Lookup says of every key what Get says: of keys that are there, deleted, written over or never
// were, in memory and in tables of every level, whatever order they are asked in.
func TestLookupSaysWhatGetSays(t *testing.T) {
	for name, size := range map[string]swapstore.Size{"small": swapstore.Small(), "busy": swapstore.Busy()} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name == "busy" {
				t.Skip("takes as long again")
			}
			size.MemTableBytes = 64 << 10
			s, err := swapstore.OpenSized(vfs.NewMem(), "store", swapstore.Format{}, size)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, s.Close()) })
			const keys = 3000
			key := func(i int) []byte { return fmt.Appendf(nil, "key-%d", i*7919%keys) }
			agree := func() {
				t.Helper()
				asked := [][]byte{[]byte("a"), []byte("key"), []byte("z")}
				for i := range 2 * keys {
					asked = append(asked, fmt.Appendf(nil, "key-%d", i))
				}
				for range 2 {
					found, err := s.Lookup(asked)
					require.NoError(t, err)
					for i, f := range found {
						value, is, err := s.Get(asked[i])
						require.NoError(t, err)
						require.Equal(t, swapstore.Found{Value: value, Found: is}, f, "%s", asked[i])
					}
					slices.Reverse(asked)
				}
			}
			for round := range 4 {
				for at := 0; at < keys; at += 100 {
					require.NoError(t, s.Apply(func(w swapstore.Writer) error {
						for i := at; i < at+100; i++ {
							w.Set(key(i), fmt.Appendf(nil, "%0100d", i+round))
							if i%7 == round {
								w.Delete(key(i))
							}
						}
						return nil
					}))
				}
				agree()
			}
			require.NoError(t, s.Rewrite(context.Background(), without("key-5", "key-77")))
			agree()
		})
	}
}
