package translog_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/deletions"
	"lethe/deletions/translog"
	"lethe/internal/fuzzing"
)

func TestLeavesAreReadAsTheyWereWritten(t *testing.T) {
	for _, leaf := range every() {
		text, err := translog.Encode(leaf)
		require.NoError(t, err)
		again, err := translog.Decode(text)
		require.NoError(t, err, "%s", text)
		require.Equal(t, leaf, again)
	}
}

func TestALeafIsWrittenInOneWay(t *testing.T) {
	text, err := translog.Encode(every()[2])
	require.NoError(t, err)
	require.Equal(t, `{"body":{"at":"2026-03-01T12:00:00Z","request_digest":"`+digestOf("r").String()+
		`","state":"accepted"},"format":"lethe-leaf/1","kind":"transition"}`, string(text))
	for name, change := range map[string][2]string{
		"another version":  {"lethe-leaf/1", "lethe-leaf/2"},
		"an unknown kind":  {`"transition"`, `"transitions"`},
		"another kind":     {`"transition"`, `"receipt"`},
		"an unknown field": {`"state"`, `"id":"tx-1","state"`},
		"a doubled field":  {`"state"`, `"state":"accepted","state"`},
		"white space":      {`,"kind"`, `, "kind"`},
		"another order": {
			`"format":"lethe-leaf/1","kind":"transition"`, `"kind":"transition","format":"lethe-leaf/1"`,
		},
		"an unknown state":     {"accepted", "acceptable"},
		"a missing code":       {"accepted", "failed"},
		"a finer time":         {"12:00:00Z", "12:00:00.0001Z"},
		"another zone":         {"12:00:00Z", "13:00:00+01:00"},
		"a second leaf":        {`"transition"}`, `"transition"}{}`},
		"a member in capitals": {`"state"`, `"State"`},
	} {
		changed := strings.Replace(string(text), change[0], change[1], 1)
		require.NotEqual(t, string(text), changed, name)
		_, err := translog.Decode([]byte(changed))
		require.ErrorIs(t, err, deletions.ErrFormat, name)
	}
}

func TestLeavesThatSayNothingAreNotWritten(t *testing.T) {
	for _, leaf := range []translog.Leaf{
		translog.Request{}, translog.Transition{}, translog.Operator{}, translog.Receipt{}, translog.Slice{},
		translog.Checkpoint{}, translog.Transition{Request: digestOf("r"), State: deletions.Received, At: epoch},
	} {
		_, err := translog.Encode(leaf)
		require.Error(t, err, "%+v", leaf)
	}
}

func FuzzDecodeLeaf(f *testing.F) {
	var seeds [][]byte
	for _, leaf := range every() {
		text, err := translog.Encode(leaf)
		require.NoError(f, err)
		seeds = append(seeds, text)
	}
	fuzzing.Plain(f, func(data []byte) error {
		leaf, err := translog.Decode(data)
		if err != nil {
			return err
		}
		again, err := translog.Encode(leaf)
		if err == nil && !bytes.Equal(again, data) {
			panic(errors.New("taken, and written as other bytes"))
		}
		return err
	}, seeds...)
}
