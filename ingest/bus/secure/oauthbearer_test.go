package secure

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The message is that of RFC 7628, section 4.1, without the fields that Kafka has no use for.
func TestATokenIsSentAsRFC7628HasIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(path, []byte("vF9dft4qmTc2Nvb3RlckBhbHRhdmlzdGEuY29tCg==\n"), 0o640))
	mechanism, err := mechanismOf(&SASL{Mechanism: OAuthBearer, TokenFile: path})
	require.NoError(t, err)
	require.Equal(t, "OAUTHBEARER", mechanism.Name())
	session, first, err := mechanism.Start(t.Context())
	require.NoError(t, err)
	require.Equal(t, "n,,\x01auth=Bearer vF9dft4qmTc2Nvb3RlckBhbHRhdmlzdGEuY29tCg==\x01\x01", string(first))

	done, _, err := session.Next(t.Context(), nil)
	require.NoError(t, err)
	require.True(t, done)
	done, _, err = session.Next(t.Context(), []byte(`{"status":"invalid_token","scope":"kafka"}`))
	require.False(t, done)
	require.EqualError(t, err, "the broker does not take the token: invalid_token; it wants scope kafka")
	_, _, err = session.Next(t.Context(), []byte("{"))
	require.ErrorContains(t, err, "makes no sense")
}

func TestAFileThatCannotBeTakenIsOfASetting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(path, []byte("s3cr3t\ns3cr3t"), 0o600))
	_, err := mechanismOf(&SASL{Mechanism: Plain, Username: "u", PasswordFile: path})
	require.ErrorIs(t, err, ErrRefused)
	require.ErrorContains(t, err, "more than one line")
	require.ErrorContains(t, err, "look at kafka.sasl.username and kafka.sasl.password_file")
}
