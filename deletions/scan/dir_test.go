package scan_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/deletions/scan"
)

func writeFile(t *testing.T, root, name, content string) {
	path := filepath.Join(root, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}

func TestScanDirFindsEveryCopy(t *testing.T) {
	root := t.TempDir()
	writeFile(t, root, "a.log", "nothing here")
	writeFile(t, root, ".hidden/b.sst", `xx{"id":"230425980"}`)
	writeFile(t, root, "deep/er/c", `"230425980""230425980"`)
	writeFile(t, root, "names/230425980.json", "{}")
	writeFile(t, root, "names/230425980-dir/inner", `"230425980"`)
	require.NoError(t, os.Symlink("/etc/hosts", filepath.Join(root, "link")))

	sc := idScanner(t, "230425980")
	report, err := sc.ScanDir(t.Context(), os.DirFS(root))
	require.NoError(t, err)
	hit := func(offset int64) scan.Hit { return scan.Hit{Kind: scan.KindID, Offset: offset} }
	require.Equal(t, []scan.FileHit{
		{Path: ".hidden/b.sst", Hit: hit(9)},
		{Path: "deep/er/c", Hit: hit(1)},
		{Path: "deep/er/c", Hit: hit(12)},
		{Path: "names/[redacted]", InName: true, Hit: hit(0)},
		{Path: "names/[redacted]/inner", Hit: hit(1)},
		{Path: "names/[redacted]", InName: true, Hit: hit(0)},
	}, report.Hits)
	require.Equal(t, []string{"link"}, report.NotRead)
	require.Equal(t, 5, report.Files)
	require.Equal(t, scan.Summary{Files: 5, Bytes: report.Bytes, Hits: 6, NotRead: 1}, report.Summary())
	require.Equal(t, int64(12+20+22+2+11), report.Bytes)
}

// changing is a folder in which something happens to a path right before it is
// opened.
type changing struct {
	fs.FS
	before func(path string)
}

func (c changing) Open(path string) (fs.File, error) {
	c.before(path)
	return c.FS.Open(path)
}

func TestScanDirToleratesWhatVanishes(t *testing.T) {
	root := t.TempDir()
	writeFile(t, root, "a", "1")
	writeFile(t, root, "gone", "2")
	writeFile(t, root, "gonedir/b", "3")
	writeFile(t, root, "z", "4")
	report, err := idScanner(t, "230425980").ScanDir(t.Context(), changing{os.DirFS(root), func(path string) {
		if path == "gone" || path == "gonedir" {
			require.NoError(t, os.RemoveAll(filepath.Join(root, path)))
		}
	}})
	require.NoError(t, err)
	require.Equal(t, 2, report.Files)
}

func TestScanDirStopsWhenAsked(t *testing.T) {
	root := t.TempDir()
	writeFile(t, root, "a", "1")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := idScanner(t, "230425980").ScanDir(ctx, os.DirFS(root))
	require.ErrorIs(t, err, context.Canceled)
}

func TestScanDirReportsWhatItCannotRead(t *testing.T) {
	sc := idScanner(t, "230425980")
	root := t.TempDir()
	writeFile(t, root, "plain", "1")
	_, err := sc.ScanDir(t.Context(), os.DirFS(filepath.Join(root, "plain")))
	require.ErrorContains(t, err, "not a directory")
	_, err = sc.ScanDir(t.Context(), os.DirFS(filepath.Join(root, "absent")))
	require.ErrorIs(t, err, os.ErrNotExist)

	// A directory that turned into a file between listing and reading: an error
	// that even root meets. Its text must not repeat the name.
	const name = "tx 230425980"
	require.NoError(t, os.Mkdir(filepath.Join(root, name), 0o700))
	_, err = sc.ScanDir(t.Context(), changing{os.DirFS(root), func(path string) {
		if path == name {
			require.NoError(t, os.Remove(filepath.Join(root, name)))
			writeFile(t, root, name, "")
		}
	}})
	require.Error(t, err)
	require.NotContains(t, err.Error(), "230425980")
	require.Contains(t, err.Error(), scan.RedactedName)
}

func TestScanSummariesAdd(t *testing.T) {
	a := scan.Summary{Files: 1, Bytes: 2, Records: 3, Hits: 4, NotRead: 5}
	require.Equal(t, scan.Summary{Files: 2, Bytes: 4, Records: 6, Hits: 8, NotRead: 10}, a.Add(a))
}

// A file that was searched by other means is counted and not read, until it grows.
func TestACleanFileIsNotRead(t *testing.T) {
	root := t.TempDir()
	writeFile(t, root, "log", `"230425980"`)
	writeFile(t, root, "other", "nothing here")
	opened := &opening{FS: os.DirFS(root)}
	info, err := fs.Stat(opened.FS, "log")
	require.NoError(t, err)
	search := func() scan.Report {
		report, err := idScanner(t, "230425980").ScanDirAt(t.Context(), opened, nil, scan.Clean{"log": info, "other": info})
		require.NoError(t, err)
		require.Equal(t, 2, report.Files)
		return report
	}
	report := search()
	require.Empty(t, report.Hits)
	require.Equal(t, info.Size()+12, report.Bytes)
	require.Equal(t, []string{"other"}, opened.names)
	writeFile(t, root, "log", `"230425980" and more`)
	require.Len(t, search().Hits, 1)
}

// opening notes which files are opened.
type opening struct {
	fs.FS
	names []string
}

func (o *opening) Open(name string) (fs.File, error) {
	info, err := fs.Stat(o.FS, name)
	if err == nil && info.Mode().IsRegular() {
		o.names = append(o.names, name)
	}
	return o.FS.Open(name)
}
