package bytecursor_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe/internal/bytecursor"
)

func TestReadsWhatWasAppended(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var order interface {
			binary.ByteOrder
			binary.AppendByteOrder
		} = binary.BigEndian
		if rapid.Bool().Draw(rt, "little-endian") {
			order = binary.LittleEndian
		}
		a, b, d := rapid.Uint8().Draw(rt, "a"), rapid.Uint32().Draw(rt, "b"), rapid.Uint64().Draw(rt, "d")
		text := rapid.String().Draw(rt, "text")
		row := rapid.SliceOfN(rapid.Float32(), 1, 5).Draw(rt, "row")
		message := order.AppendUint64(order.AppendUint32(order.AppendUint16([]byte{a}, uint16(b)), b), d)
		message = append(order.AppendUint32(message, uint32(len(text))), text...)
		for _, v := range row {
			message = binary.LittleEndian.AppendUint32(message, math.Float32bits(v))
		}
		message = append(message, 1, 2)

		c := bytecursor.New(message, order)
		require.Equal(rt, a, c.Uint8())
		require.Equal(rt, uint16(b), c.Uint16())
		require.Equal(rt, b, c.Uint32())
		require.Equal(rt, d, c.Uint64())
		require.Equal(rt, text, c.Text())
		require.Equal(rt, row, c.Float32s(len(row)))
		require.Equal(rt, 2, c.Left())
		rest := make([]byte, 2)
		c.Bytes(rest)
		require.Equal(rt, []byte{1, 2}, rest)
		require.NoError(rt, c.Close())

		// Any part of the message is cut short, and says so once.
		cut := bytecursor.New(message[:rapid.IntRange(0, len(message)-1).Draw(rt, "cut")], order)
		cut.Uint8()
		cut.Uint16()
		cut.Uint32()
		cut.Uint64()
		_ = cut.Text()
		cut.Float32s(len(row))
		cut.Bytes(rest)
		first := cut.Err()
		require.Error(rt, first)
		require.Zero(rt, cut.Uint64())
		require.Equal(rt, first, cut.Close())
	})
}

func TestLengthsFromTheMessageAreBounded(t *testing.T) {
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}
	for name, read := range map[string]func(c *bytecursor.Cursor){
		"count":  func(c *bytecursor.Cursor) { require.Zero(t, c.Count(1)) },
		"text":   func(c *bytecursor.Cursor) { require.Empty(t, c.Text()) },
		"floats": func(c *bytecursor.Cursor) { require.Nil(t, c.Float32s(math.MaxInt)) },
		"less":   func(c *bytecursor.Cursor) { require.Nil(t, c.Float32s(-1)) },
		"take":   func(c *bytecursor.Cursor) { require.Nil(t, c.Take(-1)) },
	} {
		c := bytecursor.New(huge, binary.BigEndian)
		read(&c)
		require.Error(t, c.Err(), name)
	}
}

func TestBytesLeftOver(t *testing.T) {
	c := bytecursor.New([]byte{1, 2}, binary.BigEndian)
	require.Equal(t, uint8(1), c.Uint8())
	require.NoError(t, c.Err())
	require.EqualError(t, c.Close(), "1 bytes left over")
}

// TestFlagHasOneSpelling: a flag that is neither 0 nor 1 would be written as
// other bytes than it was read from.
func TestFlagHasOneSpelling(t *testing.T) {
	for b := range 256 {
		c := bytecursor.New([]byte{byte(b)}, binary.BigEndian)
		require.Equal(t, b == 1, c.Flag(), "flag %d", b)
		require.Equal(t, b <= 1, c.Close() == nil, "flag %d", b)
	}
}
