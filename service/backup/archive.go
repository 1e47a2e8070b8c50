package backup

import (
	"archive/tar"
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lethe"
)

const (
	mostManifestBytes = 256 << 20
	// mostKeyBytes bounds a file of keys, which is held in memory before its signature is checked.
	mostKeyBytes = 1 << 20
)

// write creates the archive: the files below a directory, in the given order, and the manifest.
func write(out io.Writer, m Manifest, dir string, paths []string, key ed25519.PrivateKey) (Manifest, error) {
	archive := tar.NewWriter(out)
	for _, path := range paths {
		file, err := add(archive, dir, path)
		if err != nil {
			return m, fmt.Errorf("%s: %w", filepath.Join(dir, path), err)
		}
		m.Files = append(m.Files, file)
	}
	text, err := m.sign(key)
	if err != nil {
		return m, err
	}
	if err := archive.WriteHeader(&tar.Header{Name: manifestName, Mode: 0o600, Size: int64(len(text))}); err != nil {
		return m, err
	}
	if _, err := archive.Write(text); err != nil {
		return m, err
	}
	return m, archive.Close()
}

func add(archive *tar.Writer, dir, path string) (f File, err error) {
	file, err := os.Open(filepath.Join(dir, filepath.FromSlash(path)))
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return f, err
	}
	h := &tar.Header{Name: path, Mode: int64(info.Mode().Perm()), Size: info.Size(), Format: tar.FormatPAX}
	if err := archive.WriteHeader(h); err != nil {
		return f, err
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(archive, sum), file)
	return File{Path: path, Bytes: n, SHA256: lethe.Digest(sum.Sum(nil))}, err
}

// opened is a backup that has been read completely.
type opened struct {
	path string
	Manifest
	// keys are the files of keys in the backup, by path.
	keys map[string][]byte
}

// refuse returns an error that names the backup and the remedy.
func refuse(path, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s", ErrRefused, path, fmt.Sprintf(format, args...))
}

// each calls fn with every file of an archive except the manifest, which it returns.
func each(path string, fn func(h *tar.Header, content io.Reader) error) (manifest []byte, err error) {
	const another = "put another backup back, or copy the file again from where it was kept"
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("backup: %w (name the file that lethe backup create has written)", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	archive := tar.NewReader(file)
	for {
		h, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil, refuse(path, "it was cut short: its end, %s, is missing (%s)", manifestName, another)
		case err != nil:
			return nil, refuse(path, "it is damaged: no tar archive (%s)", another)
		case h.Name == manifestName:
			text, err := io.ReadAll(io.LimitReader(archive, mostManifestBytes))
			if err != nil {
				return nil, refuse(path, "it was cut short in %s (%s)", manifestName, another)
			}
			return text, nil
		case h.Typeflag != tar.TypeReg || isSparse(h) || !filepath.IsLocal(h.Name) || strings.Contains(h.Name, `\`):
			return nil, refuse(path, "it holds %q, which no backup does", h.Name)
		}
		if err := fn(h, archive); errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, refuse(path, "it was cut short in %s (%s)", h.Name, another)
		} else if err != nil {
			return nil, err
		}
	}
}

// isSparse reports whether an entry represents more bytes than it stores: a small file could fill
// memory and disk.
func isSparse(h *tar.Header) bool {
	for name := range h.PAXRecords {
		if strings.HasPrefix(name, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// open reads a backup and verifies it against its manifest. keysOf returns the keys one of which
// must have signed it; they may be in its files.
func open(path string, keysOf func(files map[string][]byte) ([]ed25519.PublicKey, error)) (*opened, error) {
	found := make(map[string]File)
	o := &opened{path: path, keys: make(map[string][]byte)}
	text, err := each(path, func(h *tar.Header, content io.Reader) error {
		if _, twice := found[h.Name]; twice {
			return refuse(path, "it holds %q twice, which no backup does", h.Name)
		}
		var kept bytes.Buffer
		sum := sha256.New()
		into := io.Writer(sum)
		if isKey := strings.HasPrefix(h.Name, keysFolder); isKey {
			if h.Size > mostKeyBytes {
				return refuse(path, "%s in it has %d bytes, which no key has", h.Name, h.Size)
			}
			into = io.MultiWriter(sum, &kept)
		}
		n, err := io.Copy(into, content)
		if kept.Len() > 0 {
			o.keys[h.Name] = kept.Bytes()
		}
		found[h.Name] = File{Path: h.Name, Bytes: n, SHA256: lethe.Digest(sum.Sum(nil))}
		return err
	})
	if err != nil {
		return nil, err
	}
	keys, err := keysOf(o.keys)
	if err != nil {
		return nil, refuse(path, "%v", err)
	}
	if o.Manifest, err = openManifest(text, keys); err != nil {
		return nil, refuse(path, "%v (put another backup back)", err)
	}
	for _, want := range o.Files {
		switch have, is := found[want.Path]; {
		case !is:
			return nil, refuse(path, "%s is missing in it: it was altered (put another backup back)", want.Path)
		case have != want:
			return nil, refuse(path, "%s is not as it was written: it is damaged or was altered (put another backup back)",
				want.Path)
		}
		delete(found, want.Path)
	}
	for _, more := range slices.Sorted(maps.Keys(found)) {
		return nil, refuse(path, "%s was added to it: it was altered (put another backup back)", more)
	}
	return o, nil
}

// unpack writes the files selected by keep below a directory, and syncs them.
func (o *opened) unpack(dir string, keep func(path string) bool) error {
	want := make(map[string]lethe.Digest)
	for _, f := range o.Files {
		want[f.Path] = f.SHA256
	}
	_, err := each(o.path, func(h *tar.Header, content io.Reader) error {
		if !keep(h.Name) {
			return nil
		}
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, h.FileInfo().Mode().Perm())
		if err != nil {
			return err
		}
		sum := sha256.New()
		_, err = io.Copy(io.MultiWriter(file, sum), content)
		if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
			return err
		}
		if lethe.Digest(sum.Sum(nil)) != want[h.Name] {
			return refuse(o.path, "%s has changed since it was checked", h.Name)
		}
		return nil
	})
	return err
}
