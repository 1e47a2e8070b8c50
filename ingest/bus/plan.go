package bus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Change is one change that Apply would make, or that it leaves to operators.
type Change struct {
	// Topic is the full name.
	Topic string `json:"topic"`
	// Action is create, grow, set, refused (partitions are not added to topics that hold
	// records) or by_hand (operators have to do it).
	Action  string `json:"action"`
	Setting string `json:"setting,omitempty"`
	Have    string `json:"have,omitempty"`
	Want    string `json:"want,omitempty"`
	// Partitions, Replication and Settings are those of a topic to create.
	Partitions  int               `json:"partitions,omitempty"`
	Replication int               `json:"replication,omitempty"`
	Settings    map[string]string `json:"settings,omitempty"`
}

const actionCreate, actionGrow = "create", "grow"

// String returns one line for an operator.
func (c Change) String() string {
	switch c.Action {
	case actionCreate:
		settings := make([]string, 0, len(c.Settings))
		for name, value := range c.Settings {
			settings = append(settings, name+"="+value)
		}
		slices.Sort(settings)
		return fmt.Sprintf("%s: create with %d partitions on %d brokers, %s",
			c.Topic, c.Partitions, c.Replication, strings.Join(settings, " "))
	case "refused":
		return fmt.Sprintf("%s: %s stays %s, not %s: the topics hold records", c.Topic, c.Setting, c.Have, c.Want)
	case "by_hand":
		if c.Setting == settingPartitions {
			return fmt.Sprintf("%s: %s is %s, want %s: nothing takes partitions away (%s)",
				c.Topic, c.Setting, c.Have, c.Want, surplusRemedy)
		}
		return fmt.Sprintf("%s: %s is %s, want %s: apply does not move data (kafka-reassign-partitions.sh does)",
			c.Topic, c.Setting, c.Have, c.Want)
	default:
		return fmt.Sprintf("%s: %s from %s to %s", c.Topic, c.Setting, c.Have, c.Want)
	}
}

// Plan returns the changes that Apply would make now, in the order of Topics, and changes nothing.
func (a Admin) Plan(ctx context.Context) ([]Change, error) {
	problems, err := a.Check(ctx)
	if err != nil {
		return nil, err
	}
	rest := mendable(problems)
	_, all, err := a.states(ctx)
	if err != nil {
		return nil, err
	}
	grows := func(p Problem) bool { return p.Setting == settingPartitions }
	refused := false
	if slices.ContainsFunc(rest, grows) {
		err := a.refuseGrowth(ctx, rest)
		if refused = errors.Is(err, ErrHoldsRecords); err != nil && !refused {
			return nil, err
		}
	}
	changes := make([]Change, 0, len(problems))
	for _, p := range problems {
		if p.Setting != settingHidden {
			changes = append(changes, a.change(p, all, refused))
		}
	}
	return changes, nil
}

func (a Admin) change(p Problem, all cluster, refused bool) Change {
	c := Change{Topic: a.client.Name(p.Topic), Action: "set", Setting: p.Setting, Have: p.Have, Want: p.Want}
	switch {
	case p.ByHand(), p.surplus():
		c.Action = "by_hand"
	case p.Setting == settingTopic:
		cfg := a.wanted(all)
		spec, replication := specOf(p.Topic, &cfg), cfg.replication(all.brokers)
		c = Change{
			Topic: c.Topic, Action: actionCreate,
			Partitions: spec.partitions, Replication: replication, Settings: make(map[string]string),
		}
		for _, s := range append(spec.settings, minInSync(replication)) {
			c.Settings[s.name] = s.value
		}
	case refused: // Apply changes nothing in this case
		c.Action = "refused"
	case p.Setting == settingPartitions:
		c.Action = actionGrow
	}
	return c
}

// refuseSurplus returns the error for topics that have more partitions than they may
// have.
func (a Admin) refuseSurplus(problems []Problem) error {
	var have []string
	for _, p := range problems {
		if p.surplus() {
			have = append(have, fmt.Sprintf("%s has %s partitions, want %s", a.client.Name(p.Topic), p.Have, p.Want))
		}
	}
	if len(have) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s (%s)", ErrSurplus, strings.Join(have, "; "), surplusRemedy)
}

// surplusRemedy is the advice to operators for such topics.
const surplusRemedy = "delete it if it holds nothing that is needed, with auto.create.topics.enable=false, and lethe " +
	"topics apply creates it; or start over with another kafka.topic_prefix and empty data directories"

// mendable leaves out problems that Apply cannot fix: the replication factor is changed by moving data, and partitions
// are removed only with their topic, which operators have to do. Settings that are hidden from lethe are left out,
// too.
func mendable(problems []Problem) []Problem {
	return slices.DeleteFunc(slices.Clone(problems), func(p Problem) bool {
		return p.ByHand() || p.surplus() || p.Setting == settingHidden
	})
}

// refuseGrowth returns the error of adding partitions if any topic holds, or held,
// records.
func (a Admin) refuseGrowth(ctx context.Context, problems []Problem) error {
	var missing []Topic
	var grow []string
	for _, p := range problems {
		switch p.Setting {
		case settingTopic:
			missing = append(missing, p.Topic)
		case settingPartitions:
			grow = append(grow, fmt.Sprintf("%s has %s partitions, want %s", p.Topic, p.Have, p.Want))
		}
	}
	for _, t := range Topics() {
		if slices.Contains(missing, t) {
			continue
		}
		ends, err := a.client.EndOffsets(ctx, t)
		if err != nil {
			return fmt.Errorf("apply topics: %w", err)
		}
		if slices.Max(ends) > 0 {
			return fmt.Errorf("%w: %s; %s holds records (set kafka.partitions to what there is, or start over "+
				"with another kafka.topic_prefix and empty data directories)", ErrHoldsRecords, strings.Join(grow, "; "), t)
		}
	}
	return nil
}
