package service_test

import (
	"context"
	"crypto/rand"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
	"lethe/deletions"
	"lethe/service"
	"lethe/service/servicetest"
)

// A signing key that is rotated while a process starts, which has read the one of before by then, is introduced by that
// one at the next start: until then nobody removes it.
func TestAKeyThatIsRotatedDuringAStartIsIntroducedAtTheNext(t *testing.T) {
	b := &outsideBroker{t: t, dir: t.TempDir(), port: freePort(t)}
	c := servicetest.SmallConfig(t, t.TempDir())
	c.Kafka.Brokers = []string{b.address()}
	begun := make(chan *service.Service, 1)
	failed := make(chan error, 1)
	go func() {
		s, err := service.New(t.Context(), service.Options{
			Config: c, Version: "test", Random: servicetest.Zeros{}, Logger: slog.New(slog.DiscardHandler),
		})
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
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	stream := servicetest.SmallStream(t, 2, 40, 3)
	first := *stream
	first.Steps = stream.Steps[:1]
	(&running{&servicetest.Running{Service: s, T: t}}).Replay(&first)
	stop()
	require.NoError(t, <-ended)
	require.NoError(t, s.Close())
	kept, err := configs.KeysOf(c).Before(t.Context())
	require.NoError(t, err)
	require.True(t, before.Equal(kept), "the key of before is gone")

	r := start(t, c)
	r.Replay(stream)
	require.Equal(t, deletions.Verified, r.Erase("gdpr-1", lethe.ScopeStubs, servicetest.LabelledIllicit(stream, 1)[0]))
	require.Equal(t, 1, strings.Count(strings.Join(r.logged(), "\n"), `"action":"rotate-key"`))
	kept, err = configs.KeysOf(c).Before(t.Context())
	require.NoError(t, err)
	require.Nil(t, kept)
	held, err := configs.ReadSigningKey(c.SigningKeyPath())
	require.NoError(t, err)
	require.True(t, now.Equal(held))
}
