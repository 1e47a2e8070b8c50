package snapshot

import "lethe"

// Watermark returns the lowest watermark of a stream's partitions.
func Watermark(s *Store, stream Stream) lethe.Timestep { return s.staging.watermark(stream) }
