package train

import (
	"bytes"
	"testing"

	"lethe"
)

func FuzzSplitStoredSlice(f *testing.F) {
	f.Add(storedSlice(sliceLink{revision: 2, previous: 3}, []byte("slice")))
	f.Add(storedSlice(sliceLink{previous: lethe.NoTimestep}, nil))
	f.Fuzz(func(t *testing.T, value []byte) {
		if link, message, err := splitStoredSlice(value); err == nil && !bytes.Equal(storedSlice(link, message), value) {
			t.Fatalf("%d bytes are taken and written as others", len(value))
		}
	})
}
