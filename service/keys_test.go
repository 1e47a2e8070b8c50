package service_test

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/audit"
	"lethe/configs"
	"lethe/deletions"
	"lethe/internal/kms"
	"lethe/internal/kms/kmstest"
	"lethe/service"
	"lethe/service/servicetest"
)

// With a key management system the keys lie sealed in their files. A start waits for one that is away
// and says so; once they are unsealed it is not needed any more. What it refuses ends the start in one
// line, and nothing is made in the place of a key.
func TestKeysAreUnsealedAtTheStart(t *testing.T) {
	vault := kmstest.New(t, "s.right")
	c := servicetest.SmallConfig(t, t.TempDir())
	c.SecretFile = ""
	c.HTTP.Address = freeAddress(t)
	c.KMS = kms.Defaults()
	c.KMS.Address, c.KMS.TokenFile = vault.URL, filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(c.KMS.TokenFile, []byte("s.right"), 0o600))
	vault.Seal(true)
	says := make(chan bool, 1)
	go func() {
		for deadline := time.Now().Add(servicetest.WaitFor); time.Now().Before(deadline); time.Sleep(servicetest.Tick) {
			if strings.Contains(page(t, c.HTTP.Address, "/readyz"), "keys: not ok") {
				says <- true
				break
			}
		}
		close(says)
		vault.Seal(false)
	}()
	r := start(t, c)
	require.True(t, <-says, "it waits, and says so")
	require.Contains(t, r.Page("/readyz"), "keys: ok")
	for _, path := range []string{c.SecretPath(), c.SigningKeyPath()} {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		require.True(t, kms.IsSealed(content), path)
	}
	vault.Seal(true) // it goes on without
	stream := servicetest.SmallStream(t, 2, 40, 3)
	r.Replay(stream)
	r.Stop()

	vault.Seal(false)
	servicetest.Audited(t, audit.Options{Config: c})
	asked := vault.Asked()
	start(t, c).Stop()
	require.LessOrEqual(t, vault.Asked(), asked+3, "once for each key, whatever is done with them")

	open := c
	open.KMS = kms.Defaults()
	err := refused(t, open)
	require.ErrorIs(t, err, configs.ErrKeyFile)
	require.ErrorContains(t, err, "it is sealed by a key management system")
	vault.TakeToken("s.other")
	err = refused(t, c)
	require.ErrorIs(t, err, kms.ErrRefused)
	require.ErrorContains(t, err, "permission denied")
	vault.TakeToken("s.right")

	store, err := configs.KeysOf(c).Store()
	require.NoError(t, err)
	files, err := configs.KeysOf(c).Files()
	require.NoError(t, err)
	require.Len(t, files, 2)
	for _, path := range files {
		changed, err := store.UnsealFile(t.Context(), path)
		require.NoError(t, err)
		require.True(t, changed)
	}
	err = refused(t, c)
	require.ErrorIs(t, err, configs.ErrKeyFile)
	require.ErrorContains(t, err, "lethe keys seal seals it")
	start(t, open).Stop()
	for _, path := range files {
		changed, err := store.SealFile(t.Context(), path)
		require.NoError(t, err)
		require.True(t, changed)
		changed, err = store.SealFile(t.Context(), path)
		require.NoError(t, err)
		require.False(t, changed, "it is")
	}
	start(t, c).Stop()
}

// A key that is lost, with its public half too, is never replaced silently: the start is refused
// with the remedy, and nothing is made in its place.
func TestLostKeysAreNotReplaced(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, t.TempDir())
	c.SecretFile = ""
	start(t, c).Stop()
	for _, lost := range [][]string{
		{c.SigningKeyPath()}, {c.SigningKeyPath(), configs.PublicKeyPath(c.SigningKeyPath())}, {c.SecretPath()},
	} {
		kept := make(map[string][]byte)
		for _, path := range lost {
			content, err := os.ReadFile(path)
			require.NoError(t, err)
			kept[path] = content
			require.NoError(t, os.Remove(path))
		}
		err := refused(t, c)
		require.ErrorIs(t, err, configs.ErrKeyFile)
		require.ErrorContains(t, err, lost[0])
		require.ErrorContains(t, err, "put it back from a copy")
		for path, content := range kept {
			_, err := os.Stat(path)
			require.True(t, errors.Is(err, fs.ErrNotExist), path)
			require.NoError(t, os.WriteFile(path, content, 0o600))
		}
	}
	start(t, c).Stop()
}

// After a rotation the secret of the ledger is a key like the others: without it what was erased would
// be taken again, so the start is refused.
func TestALostLedgerSecretIsNotPassedOver(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, t.TempDir())
	c.SecretFile = ""
	first, err := configs.LoadOrCreateSecret(c.SecretPath(), servicetest.Zeros{})
	require.NoError(t, err)
	require.NoError(t, os.Remove(c.SecretPath()))
	require.NoError(t, configs.Keystore{}.WriteRotatedSecret(t.Context(), c.SecretPath(), first.Follow([32]byte{7})))
	start(t, c).Stop()
	require.NoError(t, os.Remove(configs.LedgerSecretPath(c.SecretPath())))
	err = refused(t, c)
	require.ErrorIs(t, err, service.ErrSettings)
	require.ErrorContains(t, err, "with secret.ledger beside it")
}

// A signing key that is rotated while a process starts, which has read the one of before by then, is introduced by that
// one at the next start: until then nobody removes it.
func TestAKeyThatIsRotatedDuringAStartIsIntroducedAtTheNext(t *testing.T) {
	b := &outsideBroker{t: t, dir: t.TempDir(), port: freePort(t)}
	c := servicetest.SmallConfig(t, t.TempDir())
	c.Kafka.Brokers = []string{b.address()}
	begun := make(chan *service.Service, 1)
	failed := make(chan error, 1)
	go func() {
		s, err := service.New(t.Context(), servicetest.Options(c))
		begun <- s
		failed <- err
	}()
	// It waits for brokers, and has its keys.
	require.Eventually(t, func() bool {
		_, err := os.Stat(configs.InstancePath(c.DataDir))
		return err == nil
	}, servicetest.WaitFor, servicetest.Tick)
	before, now, err := configs.Keystore{}.RotateSigningKey(t.Context(), c.SigningKeyPath(), rand.Reader)
	require.NoError(t, err)
	b.start()
	s := <-begun
	require.NoError(t, <-failed)
	stream := servicetest.SmallStream(t, 2, 40, 3)
	r := servicetest.Run(t, s)
	r.Replay(servicetest.Part(t, stream, 1, 1))
	r.Stop()
	kept, err := configs.KeysOf(c).Before(t.Context())
	require.NoError(t, err)
	require.True(t, before.Equal(kept), "the key of before is gone")

	r = start(t, c)
	r.Replay(stream)
	require.Equal(t, deletions.Verified, r.Erase("gdpr-1", lethe.ScopeStubs, servicetest.LabelledIllicit(stream, 1)[0]))
	require.Equal(t, 1, strings.Count(strings.Join(leavesOf(r), "\n"), `"action":"rotate-key"`))
	kept, err = configs.KeysOf(c).Before(t.Context())
	require.NoError(t, err)
	require.Nil(t, kept)
	held, err := configs.ReadSigningKey(c.SigningKeyPath())
	require.NoError(t, err)
	require.True(t, now.Equal(held))
}
