package check_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/internal/check"
)

func TestWebAddress(t *testing.T) {
	host, ok := check.WebAddress("http://vault:8200/v1", "https", "http")
	require.True(t, ok)
	require.Equal(t, "vault:8200", host)
	for _, text := range []string{
		"", "vault:8200", "https:///path", "ftp://vault", "http://vault", "https://user:word@vault", "https://%zz", "//vault",
	} {
		_, ok := check.WebAddress(text, "https")
		require.False(t, ok, text)
	}
}
