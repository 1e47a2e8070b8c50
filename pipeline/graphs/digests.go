package graphs

import (
	"lethe"
	"lethe/deletions"
)

// Published implements coordinator.Graphs.
func (e *eraser) Published(timesteps []lethe.Timestep) (map[lethe.Timestep]deletions.Published, error) {
	out, gone := make(map[lethe.Timestep]deletions.Published), e.store.Gone()
	for _, t := range timesteps {
		if _, isGone := gone[t]; isGone {
			continue
		}
		known, err := e.publisher.digests(t)
		if err != nil {
			return nil, err
		}
		out[t] = known
	}
	return out, nil
}

// digests are those of what was published last of a timestep.
func (p *publisher) digests(t lethe.Timestep) (out deletions.Published, err error) {
	_, graph, err := p.published(graphMark, t)
	if err != nil {
		return out, err
	}
	_, manifest, err := p.published(manifestMark, t)
	if err != nil {
		return out, err
	}
	copy(out.Graph[:], graph)
	slicesBytes := p.cut.shards * digestBytes
	if len(manifest) < slicesBytes {
		return out, nil
	}
	copy(out.Manifest[:], manifest[slicesBytes:])
	out.Slices = make([]lethe.Digest, p.cut.shards)
	for i := range out.Slices {
		copy(out.Slices[i][:], manifest[i*digestBytes:])
	}
	return out, nil
}
