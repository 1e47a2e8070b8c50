package translog

import "fmt"

// Each calls fn with every leaf in order.
func (l *Log) Each(fn func(index int64, leaf Leaf) error) error {
	stored, err := ReadStored(l.kv)
	if err != nil {
		return err
	}
	for i, text := range stored.Leaves {
		leaf, err := Decode(text)
		if err == nil {
			err = fn(int64(i), leaf)
		}
		if err != nil {
			return fmt.Errorf("leaf %d: %w", i, err)
		}
	}
	return nil
}
