package service_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/configs"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
	"lethe/service"
	"lethe/service/servicetest"
)

// A role that cannot go on ends the service with its error; a service that
// stays up without one of its roles would look healthy and do nothing.
func TestServiceEndsWhenARoleFails(t *testing.T) {
	for _, role := range []string{configs.RoleTrain, configs.RoleScore} {
		t.Run(role, func(t *testing.T) {
			c := servicetest.SmallConfig(t, t.TempDir())
			c.Roles = []string{role}
			s, err := service.New(t.Context(), service.Options{
				Config: c, Version: "test", Random: servicetest.Zeros{}, Logger: slog.New(slog.DiscardHandler),
			})
			require.NoError(t, err)
			defer s.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			ended := make(chan error, 1)
			go func() { ended <- s.Run(ctx) }()
			// An erasure by a process with another secret.
			command := wire.Command{RequestID: "r", Phase: wire.PhasePurge, SecretCheck: "another"}
			records, err := command.Records()
			require.NoError(t, err)
			require.NoError(t, s.Client().Write(ctx, bus.Control, records))
			err = <-ended
			require.NoError(t, ctx.Err(), "the service went on without its role")
			require.ErrorContains(t, err, role+" role")
		})
	}
}
