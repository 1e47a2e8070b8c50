package train

import (
	"context"
	"fmt"
	"strings"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
)

// replace rewrites the store with another slice at t and without any
// checkpoint from t on. The old bytes are unlinked when it returns.
func (c *column) replace(ctx context.Context, t lethe.Timestep, value, offset []byte) error {
	sliceKey := string(timestepkey.New(slicePrefix, t))
	firstGone := string(timestepkey.New(checkpointPrefix, t))
	firstUnsent := string(timestepkey.New(unsentPrefix, t))
	err := c.store.Rewrite(ctx, func(src swapstore.Reader, dst swapstore.Writer) error {
		return src.Scan(nil, func(key, old []byte) error {
			k := string(key)
			switch {
			case k == sliceKey:
				return dst.Set(key, value)
			case k == offsetKey:
				return dst.Set(key, offset)
			case strings.HasPrefix(k, checkpointPrefix) && k >= firstGone:
				return nil
			case strings.HasPrefix(k, unsentPrefix) && k >= firstUnsent:
				return nil
			}
			return dst.Set(key, old)
		})
	})
	if err != nil {
		return err
	}
	c.replayThrough = max(c.replayThrough, c.trained)
	return c.load()
}

// forget writes the store anew without any checkpoint, so that the shard is
// trained again from its first slice.
func (c *column) forget(ctx context.Context) error {
	err := c.store.Rewrite(ctx, func(src swapstore.Reader, dst swapstore.Writer) error {
		return src.Scan(nil, func(key, value []byte) error {
			if k := string(key); strings.HasPrefix(k, checkpointPrefix) || strings.HasPrefix(k, unsentPrefix) {
				return nil
			}
			return dst.Set(key, value)
		})
	})
	if err != nil {
		return fmt.Errorf("shard %d: forget checkpoints: %w", c.shard, err)
	}
	return c.load()
}
