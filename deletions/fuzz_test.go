package deletions_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/deletions"
	"lethe/deletions/internal/memorykv"
	"lethe/internal/fuzzing"
)

func FuzzDecodeEntry(f *testing.F) {
	ledger := deletions.NewLedger(memorykv.New(), func() time.Time { return epoch })
	entry, err := ledger.Receive(testSecret, request("r-1", "a", "b"))
	require.NoError(f, err)
	seed, err := entry.Encode()
	require.NoError(f, err)
	fuzzing.Plain(f, func(data []byte) error {
		e, err := deletions.DecodeEntry(data)
		if err == nil {
			_, err = e.Encode()
		}
		return err
	}, seed)
}

func FuzzDecodeStatus(f *testing.F) {
	ledger := deletions.NewLedger(memorykv.New(), func() time.Time { return epoch })
	entry, err := ledger.Receive(testSecret, request("r-1", "a"))
	require.NoError(f, err)
	status := entry.Status()
	seed, err := status.Encode()
	require.NoError(f, err)
	fuzzing.Plain(f, func(data []byte) error {
		s, err := deletions.DecodeStatus(data)
		if err == nil {
			_, err = s.Encode()
		}
		return err
	}, seed)
}
