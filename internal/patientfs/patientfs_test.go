package patientfs_test

import (
	"errors"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe/internal/patientfs"
)

// moody is a file system whose files take so many bytes more and then no more.
type moody struct {
	vfs.FS
	room *atomic.Int64
}

func (m moody) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if m.room.Load() == 0 {
		return nil, &vfsError{syscall.EACCES}
	}
	f, err := m.FS.Create(name, category)
	return moodyFile{f, m.room}, err
}

type moodyFile struct {
	vfs.File
	room *atomic.Int64
}

func (f moodyFile) Write(b []byte) (int, error) {
	n := min(int64(len(b)), f.room.Load())
	f.room.Add(-n)
	written, err := f.File.Write(b[:n])
	if err == nil && int(n) < len(b) {
		err = &vfsError{syscall.ENOSPC}
	}
	return written, err
}

// vfsError wraps, as errors of package os do.
type vfsError struct{ error }

func (e *vfsError) Unwrap() error { return e.error }

// said collects what a watch is told.
type said struct{ waits, over atomic.Int64 }

func (s *said) watch(_ string, err error) {
	if err == nil {
		s.over.Add(1)
		return
	}
	s.waits.Add(1)
}

func read(t *testing.T, fs vfs.FS, name string) string {
	t.Helper()
	f, err := fs.Open(name)
	require.NoError(t, err)
	defer f.Close()
	content := make([]byte, 100)
	n, _ := f.Read(content)
	return string(content[:n])
}

// A disk that is full takes the rest once there is room, each byte once.
func TestWritesWaitForRoom(t *testing.T) {
	inner, room, heard := vfs.NewMem(), &atomic.Int64{}, &said{}
	p := patientfs.New(heard.watch)
	p.Begin()
	fs := p.FS(moody{inner, room})
	done := make(chan error, 1)
	go func() {
		f, err := fs.Create("a", vfs.WriteCategoryUnspecified)
		if err == nil {
			_, err = f.Write([]byte("abcdef"))
			err = errors.Join(err, f.Close())
		}
		done <- err
	}()
	for _, more := range []int64{1, 3, 2} {
		before := heard.waits.Load()
		require.Eventually(t, func() bool { return heard.waits.Load() > before }, 10*time.Second, time.Millisecond)
		room.Add(more)
	}
	require.NoError(t, <-done)
	require.Equal(t, "abcdef", read(t, inner, "a"))
	require.EqualValues(t, 2, heard.over.Load())
}

// Before Begin nothing waits, after Stop nothing does any more; what does not pass is
// not waited for.
func TestWhatDoesNotWait(t *testing.T) {
	p := patientfs.New(func(string, error) {})
	full := func() error { return syscall.ENOSPC }
	require.ErrorIs(t, p.Do("a", full), syscall.ENOSPC)
	p.Begin()
	require.ErrorIs(t, p.Do("a", func() error { return syscall.EIO }), syscall.EIO)
	done := make(chan error, 1)
	go func() { done <- p.Do("a", full) }()
	select {
	case err := <-done:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	p.Stop()
	p.Stop()
	require.ErrorIs(t, <-done, syscall.ENOSPC)
	var none *patientfs.Patience
	require.ErrorIs(t, none.Do("a", full), syscall.ENOSPC)
}
