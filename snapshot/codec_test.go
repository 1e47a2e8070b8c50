package snapshot

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
)

// bytesOrNil draws nil, empty and filled slices: a record without a key is not
// one with an empty key.
func bytesOrNil(rt *rapid.T) []byte {
	if rapid.Bool().Draw(rt, "nil") {
		return nil
	}
	return append([]byte{}, rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(rt, "bytes")...)
}

func originGen(rt *rapid.T) Origin {
	return Origin{
		Topic:          rapid.StringN(0, 9, 20).Draw(rt, "topic"),
		Partition:      rapid.IntRange(0, 1<<20).Draw(rt, "partition"),
		Offset:         rapid.Int64Min(0).Draw(rt, "offset"),
		TimeUnixMillis: rapid.Int64().Draw(rt, "time"),
		Key:            bytesOrNil(rt),
		Value:          bytesOrNil(rt),
	}
}

func TestWhatIsPendingComesBackWhole(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		o := originGen(rt)
		payment := pendingPayment{"source", "target", o, judgement{ReasonCrossTimestep, true}}
		gotPayment, err := decodePayment(payment.encode())
		require.NoError(rt, err)
		require.Equal(rt, payment, gotPayment)
		label := pendingLabel{lethe.Illicit, "id", o, judgement{}}
		gotLabel, err := decodeLabel(label.encode())
		require.NoError(rt, err)
		require.Equal(rt, label, gotLabel)
		letter := storedLetter{[]lethe.Pseudonym{{1}, {2}}, Letter{Refusal: Refusal{o, "reason", "detail"}}}
		gotLetter, err := decodeLetter(letter.encode())
		require.NoError(rt, err)
		require.Equal(rt, letter, gotLetter)

		cut := rapid.IntRange(0, len(letter.encode())-1).Draw(rt, "cut")
		_, err = decodeLetter(letter.encode()[:cut])
		require.ErrorIs(rt, err, ErrCorrupt)
		_, err = decodePayment(append(payment.encode(), 0))
		require.ErrorIs(rt, err, ErrCorrupt)
	})
}

func TestWhatIsKnownOfATimestepComesBackWhole(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		i := Info{
			Timestep: 4, State: lethe.Closed, Revision: 3, Nodes: rapid.IntRange(0, 1<<40).Draw(rt, "nodes"),
			Payments: 7, Labels: 8, Previous: lethe.NoTimestep, Waiting: 2, Reopened: 2,
		}
		gotInfo, err := decodeInfo(4, i.encode())
		require.NoError(rt, err)
		require.Equal(rt, i, gotInfo)
	})
}
