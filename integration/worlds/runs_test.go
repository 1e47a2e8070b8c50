package worlds

import (
	"context"
	"strconv"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// runs counts, by role and data directory, the processes that there were.
type runs map[[2]string]int

// run is that of a process of a data directory that begins now: it says so before it opens its role, as the service
// does. What the processes before it have acknowledged counts no more.
func (d *deployment) run(ctx context.Context, role, identity string, alone bool) (string, error) {
	key := [2]string{role, identity}
	d.runs[key]++
	run := strconv.Itoa(1 + d.runs[key])
	var record ingest.Outgoing
	var err error
	if alone {
		record, err = wire.Instance{Role: role, Identity: identity, Run: run}.Record()
	} else {
		record, err = wire.Member{Role: role, Identity: identity, Run: run}.Record()
	}
	if err == nil {
		err = d.topics.Bus.Write(ctx, bus.Control, []ingest.Outgoing{record})
	}
	return run, err
}
