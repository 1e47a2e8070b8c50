package service_test

import (
	"crypto"
	"crypto/ed25519"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
	"lethe/ingest"
	"lethe/ingest/authority"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
	"lethe/service"
	"lethe/service/servicetest"
	"lethe/service/waiting"
)

// Where an admin signs what is said of processes, nobody else strikes a data directory off, not even
// who has the deployment's secret: nothing is written, and what is written all the same ends nobody.
func TestStrikesAreSignedByAnAdmin(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, t.TempDir())
	file := filepath.Join(t.TempDir(), "authority.keys")
	line := func(role authority.Role, name string) string {
		return authority.Line(role, name, keyOf(name).Public().(ed25519.PublicKey)) + "\n"
	}
	require.NoError(t, os.WriteFile(file, []byte(line(authority.Admin, "ada")+line(authority.Compliance, "anna")), 0o600))
	c.Signatures = authority.Config{KeysFile: file, Operators: true}
	c.Roles = []string{configs.RoleBuild}
	first := start(t, c)
	c.Roles, c.DataDir, c.Kafka.Brokers = []string{configs.RoleTrain}, t.TempDir(), first.Brokers()
	o := servicetest.Options(c)
	o.Random = strings.NewReader(strings.Repeat("one", 99))
	trainer, err := service.New(t.Context(), o)
	require.NoError(t, err)
	defer trainer.Close()
	ended := make(chan error, 1)
	go func() { ended <- trainer.Run(t.Context()) }()
	identity, err := configs.LoadOrCreateInstance(c.DataDir, nil)
	require.NoError(t, err)

	secret, err := configs.LoadOrCreateSecret(c.SecretFile, nil)
	require.NoError(t, err)
	policy, err := configs.LoadAuthority(c.Signatures)
	require.NoError(t, err)
	admin := service.Membership{Client: first.Client(), Secret: secret, Authority: policy}
	_, err = service.Membership{Client: first.Client(), Secret: secret}.Strike(t.Context(), configs.RoleTrain, identity,
		time.Now(), keyOf("ada"))
	require.ErrorIs(t, err, service.ErrSettings, "it could not tell what counts")
	for want, names := range map[string][]string{
		"unsigned": nil, "unknown_key": {"mallory"}, "wrong_role": {"anna"},
	} {
		var keys []crypto.Signer
		for _, name := range names {
			keys = append(keys, keyOf(name))
		}
		_, err := admin.Strike(t.Context(), configs.RoleTrain, identity, time.Now(), keys...)
		require.ErrorIs(t, err, service.ErrUnsigned)
		require.ErrorContains(t, err, want)
	}
	forged, err := wire.Strike{Role: configs.RoleTrain, Identity: identity, At: time.Now()}.Record()
	require.NoError(t, err)
	require.NoError(t, first.Client().Write(t.Context(), bus.Control, []ingest.Outgoing{forged}))
	members, err := admin.List(t.Context())
	require.NoError(t, err)
	require.Contains(t, members, service.Member{Role: configs.RoleTrain, Instance: identity, State: "member"})

	_, err = admin.Strike(t.Context(), configs.RoleTrain, identity, time.Now(), keyOf("ada"))
	require.NoError(t, err)
	require.ErrorIs(t, <-ended, service.ErrStruck)
	logged := func() int { return strings.Count(strings.Join(leavesOf(first), ""), "strike-off") }
	first.Await(func(*service.Status) bool { return logged() >= 1 })
	require.Equal(t, 1, logged(), "the forged one is no leaf")
}

// An erasure that waits for a data directory whose process is stopped is shown as such, with what to do, until the
// process runs again.
func TestWaits_StoppedMember_NamesTheDirectory(t *testing.T) {
	t.Parallel()
	c := impatient(t)
	c.Roles = []string{configs.RoleBuild}
	first := start(t, c)
	other := c
	other.Roles, other.DataDir, other.Kafka.Brokers = []string{configs.RoleScore}, t.TempDir(), first.Brokers()
	run := func() (stop func()) {
		o := servicetest.Options(other)
		o.Random = strings.NewReader(strings.Repeat("one", 99))
		return servicetest.StartWith(t, o).Stop
	}
	stop := run()
	identity, err := configs.LoadOrCreateInstance(other.DataDir, nil)
	require.NoError(t, err)
	members := service.Membership{Client: first.Client()}
	members.Secret, err = configs.LoadOrCreateSecret(c.SecretFile, nil)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		list, err := members.List(t.Context())
		return err == nil && slices.ContainsFunc(list, func(m service.Member) bool { return m.Instance == identity })
	}, time.Minute, 50*time.Millisecond)
	stop()

	first.Submit(lethe.ErasureRequest{RequestID: "gdpr-1", Targets: lethe.Transactions("a"), Scope: lethe.ScopeStubs})
	w := awaitCause(first, waiting.ErasureUnanswered, false)
	require.Equal(t, "score", w.Role)
	require.Equal(t, identity, w.Instance)
	require.Equal(t, waiting.Operator, w.Move)
	require.GreaterOrEqual(t, time.Since(w.Since), c.Waiting.After)
	require.Contains(t, first.Page("/metrics"), `lethe_waiting{cause="erasure_unanswered"} 1`)
	defer run()()
	awaitCause(first, waiting.ErasureUnanswered, true)
}
