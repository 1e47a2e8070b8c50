package service_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest/bus"
	"lethe/scoring"
	"lethe/service/servicetest"
)

// W140: models that had learned from no label, or from illicit transactions alone, called everybody illicit: each
// transaction of the next timestep was an alert.
func TestNobodyIsIllicitBeforeLabelsSayWhoIs(t *testing.T) {
	t.Parallel()
	for name, keep := range map[string]func(lethe.LabelRecord) bool{
		"no label":     func(lethe.LabelRecord) bool { return false },
		"illicit ones": func(l lethe.LabelRecord) bool { return l.Label == lethe.Illicit },
	} {
		for _, rule := range []string{"auto", "precision:0.9", "budget:3"} {
			t.Run(name+" "+rule, func(t *testing.T) {
				t.Parallel()
				stream := servicetest.SmallStream(t, 2, 60, 4)
				var kept []lethe.LabelRecord
				for _, l := range stream.Steps[0].Labels {
					if keep(l) {
						kept = append(kept, l)
					}
				}
				stream.Steps[0].Labels = kept
				c := servicetest.SmallDefault(t, t.TempDir())
				c.Scoring.Threshold = scoring.ThresholdRule(rule)
				s := start(t, c)
				s.Replay(stream)
				illicit, all := 0, s.Newest(bus.Predictions)
				require.Len(t, all, len(stream.Steps[1].Transactions))
				for _, value := range all {
					var p scoring.Prediction
					require.NoError(t, json.Unmarshal([]byte(value), &p))
					if p.Class == lethe.Illicit.String() {
						illicit++
					}
				}
				require.LessOrEqual(t, illicit, 3)
			})
		}
	}
}
