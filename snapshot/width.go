package snapshot

import (
	"encoding/binary"
	"fmt"

	"lethe/internal/swapstore"
)

// FeatureCount returns the number of features of every transaction, or 0 while it is not known.
func (s *Store) FeatureCount() int { return s.staging.featureCount }

// FixFeatureCount fixes the number of features, unless one is known. No record and no erasure changes it.
func (m Marks) FixFeatureCount(count int) error {
	s := m.staging
	if s.featureCount > 0 {
		return nil
	}
	if err := swapstore.Set(s, []byte{kindFeatureCount}, binary.BigEndian.AppendUint32(nil, uint32(count))); err != nil {
		return fmt.Errorf("number of features: %w", err)
	}
	s.featureCount = count
	return nil
}
