package protocol

import (
	"bytes"
	"io"
	"runtime"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// allocated is how many bytes of memory a call takes.
func allocated(fn func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A body of as much as a fetch asks for by default is read into memory that is taken once. What surrounds the records
// comes on top of what is asked for.
func TestABodyTakesItsMemoryOnce(t *testing.T) {
	const asked = 4 << 20
	for _, size := range []int{0, 1, 1000, asked, asked + 100} {
		want := bytes.Repeat([]byte("12345"), size/5+1)[:size]
		var got []byte
		var err error
		const page = 8 << 10 // to which the allocator rounds
		taken := allocated(func() { got, err = readBody(bytes.NewReader(want), int64(size)) })
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got), "%d bytes", size)
		require.LessOrEqual(t, taken, uint64(size+2*page), "%d bytes", size)
	}
}

// A larger one is read as it comes, and what is behind it is left.
func TestALargeBodyIsReadAsItComes(t *testing.T) {
	const size = 21<<20 + 3
	sent := bytes.Repeat([]byte("1234567"), size/7+2)
	r := bytes.NewReader(sent)
	got, err := readBody(iotest.HalfReader(r), size)
	require.NoError(t, err)
	require.True(t, bytes.Equal(sent[:size], got))
	require.Equal(t, len(sent)-size, r.Len())
}

// Of a body that is announced and does not come no more memory is taken than for what has come, and a little more.
func TestABodyThatEndsEarly(t *testing.T) {
	const announced, most = 1 << 30, 5 << 20
	for _, sent := range []int{0, 1, 1000} {
		var err error
		taken := allocated(func() { _, err = readBody(bytes.NewReader(make([]byte, sent)), announced) })
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%d bytes", sent)
		require.Less(t, taken, uint64(most), "%d bytes", sent)
	}
	got, err := readBody(bytes.NewReader(make([]byte, 4<<20+4<<10)), announced) // all that there is room for at first
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Len(t, got, 4<<20+4<<10)
}
