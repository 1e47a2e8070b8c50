package train

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
)

// erasure is a request under way, as far as this role is concerned.
type erasure struct {
	command *wire.Command
	// purged is the newest attempt that was acknowledged, or -1.
	purged int
}

// One process plays the role; acknowledgements name it.
const (
	roleName = "train"
	instance = "1"
)

// takeNotices follows the commands of erasures.
func (l *logic) takeNotices(notices []wire.Notice) {
	for _, n := range notices {
		switch {
		case n.Command != nil && n.Command.Phase == wire.PhasePurge:
			known := l.erasures[n.Command.RequestID]
			if known == nil {
				known = &erasure{purged: -1}
				l.erasures[n.Command.RequestID] = known
			}
			known.command = n.Command
		case n.Deleted != "":
			delete(l.erasures, n.Deleted)
		}
	}
}

// acknowledge answers the next command whose slices have all been replaced and
// trained through, or is idle. The stores were rewritten when the slices arrived,
// so all that is left is to search them.
func (l *logic) acknowledge(ctx context.Context) (role.Output, error) {
	for _, id := range slices.Sorted(maps.Keys(l.erasures)) {
		e := l.erasures[id]
		if e.purged >= e.command.Attempt || !l.replaced(e.command) {
			continue
		}
		records, err := l.answer(ctx, e.command)
		if err != nil {
			return role.Output{}, fmt.Errorf("request %s: %w", id, err)
		}
		return role.Output{Topic: bus.ErasureStatus, Records: records, Note: func() error {
			e.purged = e.command.Attempt
			return nil
		}}, nil
	}
	return role.Output{Idle: true}, nil
}

// replaced reports whether every slice that the command replaces is in place and
// its column trained as far as it goes.
func (l *logic) replaced(command *wire.Command) bool {
	for _, step := range command.Steps {
		for _, shard := range step.Shards {
			if int(shard) >= len(l.columns) {
				return false
			}
			c := l.columns[shard]
			if c.links[step.Timestep].revision < step.Revision {
				return false
			}
			if _, pending := c.next(); pending || c.trained < step.Timestep {
				return false
			}
		}
	}
	return true
}

// answer acknowledges the command and says what a search of the role's folder
// found.
func (l *logic) answer(ctx context.Context, command *wire.Command) ([]ingest.Outgoing, error) {
	summary, err := l.search(ctx, command)
	if err != nil {
		return nil, err
	}
	purged := deletions.NewAck(command.RequestID, roleName, instance, deletions.StepPurged)
	purged.Shards = slices.Sorted(maps.Keys(command.Shards()))
	scanned := deletions.NewAck(command.RequestID, roleName, instance, deletions.StepScanned)
	scanned.Scan = &summary
	var records []ingest.Outgoing
	for _, a := range []deletions.Ack{purged, scanned} {
		a.Attempt = command.Attempt
		value, err := a.Encode()
		if err != nil {
			return nil, err
		}
		records = append(records, ingest.Outgoing{Key: []byte(a.Key()), Value: value})
	}
	return records, nil
}
