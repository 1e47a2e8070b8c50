package citation

import (
	"archive/zip"
	"bytes"
	"testing"
)

// An array that is read has as many numbers as its shape says.
func FuzzParseArray(f *testing.F) {
	for _, header := range []string{
		"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }",
		"{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }",
		"{'descr': '|b1', 'fortran_order': False, 'shape': (16,), }",
	} {
		seed := npy(1, header, "0123456789abcdef")
		if _, err := parseArray("x", seed); err != nil {
			f.Fatal(err)
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		a, err := parseArray("x", content)
		if err != nil {
			return
		}
		want := 1
		for _, n := range a.shape {
			want *= n
		}
		if len(a.values) != want {
			t.Fatalf("%d numbers, shape %v", len(a.values), a.shape)
		}
	})
}

// Whatever a container holds, a graph that is read of it is whole.
func FuzzRead(f *testing.F) {
	var seed bytes.Buffer
	w := zip.NewWriter(&seed)
	for name, content := range map[string][]byte{
		"labels.npy": npy(1, "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }", "0123456789abcdef"),
		"other.txt":  []byte("text"),
	} {
		member, err := w.Create(name)
		if err == nil {
			_, err = member.Write(content)
		}
		if err != nil {
			f.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(seed.Bytes())
	f.Fuzz(func(t *testing.T, content []byte) {
		if g, err := Read(bytes.NewReader(content), int64(len(content))); (err == nil) != (g != nil) {
			t.Fatalf("graph %v, error %v", g != nil, err)
		}
	})
}
