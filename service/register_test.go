package service

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/pipeline/wire"
)

func TestOneDataDirectoryPlaysARole(t *testing.T) {
	says := func(identity, run string, takeOver bool) wire.Instance {
		return wire.Instance{Role: "train", Identity: identity, Run: run, TakeOver: takeOver}
	}
	roles, mine := []string{"train"}, says("me", "1", false)
	for name, c := range map[string]struct {
		takeOver bool
		before   []wire.Instance
		later    []wire.Instance
		want     string
		again    int
	}{
		"alone":         {later: []wire.Instance{mine}},
		"again":         {before: []wire.Instance{says("me", "0", false)}, later: []wire.Instance{mine}},
		"another role":  {before: []wire.Instance{{Role: "score", Identity: "other"}}},
		"second":        {before: []wire.Instance{says("other", "0", false)}, want: "--take-over"},
		"takes over":    {takeOver: true, before: []wire.Instance{says("other", "0", false)}},
		"after one":     {before: []wire.Instance{says("other", "0", true)}, want: "--take-over"},
		"is taken over": {later: []wire.Instance{mine, says("other", "0", true)}, want: "taken over by"},
		"a copy begins": {later: []wire.Instance{mine, says("me", "2", false)}, want: "with a copy of"},
		"first of two":  {later: []wire.Instance{mine, says("other", "0", false)}, again: 1},
		"second of two": {later: []wire.Instance{says("other", "0", false)}, want: "--take-over"},
		"takes over of two": {
			takeOver: true, later: []wire.Instance{says("other", "0", false), says("me", "1", true)}, again: 1,
		},
		"own before a crash": {later: []wire.Instance{says("me", "0", false), mine}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegister("me", "1", c.takeOver, roles, time.Now)
			again := 0
			err := func() error {
				for _, i := range c.before {
					if err := r.before(i); err != nil {
						return err
					}
				}
				for _, i := range c.later {
					more, err := r.take(i)
					if err != nil {
						return err
					}
					if more {
						again++
					}
				}
				return nil
			}()
			require.Equal(t, c.again, again)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, ErrInstance)
			require.ErrorContains(t, err, c.want)
		})
	}
}
