package service_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/configs"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/service"
)

// A role that cannot go on ends the service with its error; a service that
// stays up without one of its roles would look healthy and do nothing.
func TestServiceEndsWhenARoleFails(t *testing.T) {
	for _, role := range []string{configs.RoleGraphs, configs.RoleTrain, configs.RoleScore} {
		t.Run(role, func(t *testing.T) {
			c := smallConfig(t, t.TempDir())
			c.Roles = []string{role}
			if role == configs.RoleGraphs {
				c.Roles = append(c.Roles, configs.RoleErasure)
			}
			s, err := service.New(t.Context(), service.Options{
				Config: c, Version: "test", Random: zeroReader{}, Logger: slog.New(slog.DiscardHandler),
			})
			require.NoError(t, err)
			defer s.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			ended := make(chan error, 1)
			go func() { ended <- s.Run(ctx) }()
			// Only lethe writes this topic, so a record it cannot read is an
			// error.
			unreadable := []ingest.Outgoing{{Key: []byte("r"), Value: []byte("{")}}
			require.NoError(t, s.Client().Write(ctx, bus.ErasureStatus, unreadable))
			err = <-ended
			require.NoError(t, ctx.Err(), "the service went on without its role")
			require.ErrorContains(t, err, role+" role")
		})
	}
}
