package service

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/pipeline/wire"
)

// since is when each run of a process says something.
var since = map[string]time.Time{"0": time.Unix(1000, 0), "1": time.Unix(1001, 0), "2": time.Unix(1002, 0)}

// began is when the process with the register begins.
func began() time.Time { return since["1"] }

func TestOneDataDirectoryPlaysARole(t *testing.T) {
	says := func(identity, run string, takeOver bool) wire.Instance {
		return wire.Instance{Role: "train", Identity: identity, Run: run, TakeOver: takeOver, Since: since[run]}
	}
	roles, mine := []string{"train"}, says("me", "1", false)
	for name, c := range map[string]struct {
		takeOver bool
		before   []wire.Instance
		later    []wire.Instance
		want     string
		again    int
	}{
		"alone": {later: []wire.Instance{mine}},
		"again": {before: []wire.Instance{says("me", "0", false)}, later: []wire.Instance{mine}},
		"who was replaced is written again at a start": {
			before: []wire.Instance{says("me", "0", true)},
			later: []wire.Instance{
				{Role: "train", Identity: "other", Since: since["0"].Add(-time.Second), TakeOver: true}, mine,
			},
		},
		"another role": {before: []wire.Instance{{Role: "score", Identity: "other"}}},
		"second":       {before: []wire.Instance{says("other", "0", false)}, want: "--take-over"},
		"takes over":   {takeOver: true, before: []wire.Instance{says("other", "0", false)}},
		"after one":    {before: []wire.Instance{says("other", "0", true)}, want: "--take-over"},
		"who was replaced had taken over, and is written again": {
			takeOver: true, before: []wire.Instance{says("other", "0", true)},
			later: []wire.Instance{says("me", "1", true), says("other", "0", true)}, again: 1,
		},
		"what it said before is written again": {
			before: []wire.Instance{says("me", "0", false)}, later: []wire.Instance{mine, says("me", "0", false)}, again: 1,
		},
		"own before a crash": {later: []wire.Instance{says("me", "0", false), mine}},
		"a start that was killed is heard of late": {
			later: []wire.Instance{mine, says("me", "0", false)}, again: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegister("me", "1", c.takeOver, roles, nil, began)
			again := 0
			err := func() error {
				if err := r.begin(known(c.before)); err != nil {
					return err
				}
				for _, i := range c.later {
					more, err := r.take(wire.Notice{Instance: &i})
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

// known are members of whom instances have said that they play a role alone.
func known(said []wire.Instance) *wire.Members {
	m := new(wire.Members)
	for _, i := range said {
		m.Take(wire.Notice{Instance: &i})
	}
	return m
}

// Several data directories share a role, and none of them is forgotten: what one that was
// struck off holds is nobody's to search, so it does not come back.
func TestDataDirectoriesShareARole(t *testing.T) {
	const role = "train"
	member := func(identity, run string) wire.Notice {
		return wire.Notice{Member: &wire.Member{Role: role, Identity: identity, Run: run, Since: since[run]}}
	}
	alone := func(identity string, takeOver, shares bool) wire.Notice {
		return wire.Notice{Instance: &wire.Instance{
			Role: role, Identity: identity, Run: "0", TakeOver: takeOver, Shares: shares,
		}}
	}
	strike := func(identity string) wire.Notice {
		return wire.Notice{Strike: &wire.Strike{Role: role, Identity: identity}}
	}
	for name, c := range map[string]struct {
		takeOver, alone bool
		before, later   []wire.Notice
		want            error
		text            string
		strikes, again  int
	}{
		"first":  {later: []wire.Notice{member("me", "1")}},
		"second": {before: []wire.Notice{member("other", "0")}, later: []wire.Notice{member("me", "1")}},
		"again":  {before: []wire.Notice{member("me", "0")}, later: []wire.Notice{member("me", "1")}},
		"a copy begins": {
			later: []wire.Notice{member("me", "1"), member("me", "2")}, want: ErrInstance, text: "with a copy of",
		},
		"what it said before is written again": {
			before: []wire.Notice{member("me", "0")}, later: []wire.Notice{member("me", "1"), member("me", "0")},
			again: 1,
		},
		"what it said alone is written again": {
			before: []wire.Notice{alone("me", false, false)},
			later:  []wire.Notice{member("me", "1"), alone("me", false, false)}, again: 1,
		},
		"a start that was killed is heard of late": {
			later: []wire.Notice{member("me", "1"), member("me", "0")}, again: 1,
		},
		"own before a crash": {later: []wire.Notice{member("me", "0"), member("me", "1")}},
		"a copy begins after that": {
			before: []wire.Notice{member("me", "1"), member("me", "0")},
			later:  []wire.Notice{member("me", "1"), member("me", "2")}, want: ErrInstance, text: "with a copy of",
		},
		"beside one alone": {
			before: []wire.Notice{alone("other", false, false)}, want: ErrInstance, text: "so that it shares the work",
		},
		"beside one that was": {before: []wire.Notice{alone("other", false, true), member("other", "0")}},
		"it was alone itself": {before: []wire.Notice{alone("me", false, false)}, later: []wire.Notice{member("me", "1")}},
		"one begins alone":    {later: []wire.Notice{member("me", "1"), alone("other", false, false)}},
		"one began alone":     {later: []wire.Notice{alone("other", false, false)}, want: ErrInstance, text: "taken over"},
		"is taken over": {
			later: []wire.Notice{member("me", "1"), alone("other", true, false)}, want: ErrInstance, text: "taken over by",
		},
		"who had taken over is written again": {
			before: []wire.Notice{alone("other", true, false), strike("other")},
			later:  []wire.Notice{member("me", "1"), alone("other", true, false)},
		},
		"was struck off": {
			before: []wire.Notice{member("me", "0"), strike("me")}, want: ErrStruck, text: "start with an empty one",
		},
		"is struck off":      {later: []wire.Notice{member("me", "1"), strike("me")}, want: ErrStruck},
		"another struck off": {before: []wire.Notice{alone("other", false, false), strike("other")}},
		"takes over": {
			takeOver: true, strikes: 2,
			before: []wire.Notice{alone("one", false, false), member("two", "0"), member("me", "0")},
		},
		"alone beside members": {
			alone: true, before: []wire.Notice{member("other", "0")}, want: ErrInstance, text: "brings its own broker",
		},
		"alone takes over": {alone: true, takeOver: true, before: []wire.Notice{member("other", "0")}, strikes: 1},
		"alone after a member": {
			alone: true, later: []wire.Notice{member("other", "0")}, want: ErrInstance, text: "since a moment ago",
		},
		"alone, struck off":       {alone: true, before: []wire.Notice{strike("me")}, want: ErrStruck},
		"alone, was a member too": {alone: true, before: []wire.Notice{member("me", "0")}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegister("me", "1", c.takeOver, nil, []string{role}, began)
			if c.alone {
				r = newRegister("me", "1", c.takeOver, []string{role}, nil, began)
			}
			members := new(wire.Members)
			for _, n := range c.before {
				members.Take(n)
			}
			err, again := r.begin(members), 0
			for _, n := range c.later {
				more := false
				if err == nil {
					more, err = r.take(n)
				}
				if more {
					again++
				}
			}
			require.Len(t, r.strikes, c.strikes)
			require.Equal(t, c.again, again)
			if c.want == nil {
				require.NoError(t, err)
				records, err := r.records(role)
				require.NoError(t, err)
				require.NotEmpty(t, records)
				return
			}
			require.ErrorIs(t, err, c.want)
			require.ErrorContains(t, err, c.text)
		})
	}
}

// What the directory said that was replaced does not count once more, for those that begin later, nor for who waits for
// answers: it would wait for ever.
func TestWhoWasReplacedPlaysTheRoleNoMore(t *testing.T) {
	before := wire.Instance{Role: "train", Identity: "other", Run: "0", TakeOver: true, Since: since["0"]}
	m := known([]wire.Instance{before, {Role: "train", Identity: "me", Run: "1", Since: since["1"]}, before})
	alone, _ := m.Alone("train")
	require.Equal(t, "me", alone.Identity)
	require.Equal(t, []string{"me"}, m.Of("train"))
}
