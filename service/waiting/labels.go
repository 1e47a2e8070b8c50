package waiting

import (
	"fmt"

	"lethe"
)

// labelsUnsettled finds partitions of labels that prevent the oldest closed timestep from being settled, if it has
// labels or predictions wait for it. Labels may arrive for days, so a timestep whose labels still arrive is not
// reported, unless nothing was settled yet, and no model can be served, or other partitions have settled it.
func labelsUnsettled(f Facts) (out []Condition) {
	oldest, settled, newest := Step{Timestep: lethe.NoTimestep}, false, lethe.NoTimestep
	for _, s := range f.Steps {
		settled = settled || s.State == lethe.Settled
		if s.State != lethe.Closed {
			continue
		}
		if newest = s.Timestep; oldest.Timestep == lethe.NoTimestep {
			oldest = s
		}
	}
	awaited := int(newest)-int(oldest.Timestep) > f.LabelLag
	if oldest.Timestep == lethe.NoTimestep || oldest.Labels == 0 && !awaited {
		return nil
	}
	of := fmt.Sprintf("Timestep %d is closed and has labels", oldest.Timestep)
	if oldest.Labels == 0 {
		of = fmt.Sprintf("Timestep %d is closed and no label of it has come", oldest.Timestep)
	}
	lasts, effect := f.Quiet, ""
	if awaited {
		effect = " Final predictions of later timesteps wait for it."
	}
	_, highest := watermarks(f.Labels)
	switch {
	case highest > oldest.Timestep:
		lasts = f.After
	case !settled && oldest.Labels > 0:
		lasts, effect = f.After, " No timestep was settled yet, so no model is served."
	}
	for _, p := range f.Labels {
		if p.Watermark > oldest.Timestep || p.unread() {
			continue
		}
		c := p.at(LabelsUnsettled, lasts,
			fmt.Sprintf("%s, and is not settled: %s partition %d has no settle record for it.%s", of, p.Topic, p.Number, effect),
			fmt.Sprintf("Once the labels are complete, send a settle record for timestep %d to every partition of %s.",
				oldest.Timestep, p.Topic)).of(oldest.Timestep)
		if lasts == f.Quiet {
			c.Sign += fmt.Sprintf(" %d", oldest.Labels)
		}
		out = append(out, c)
	}
	return out
}
