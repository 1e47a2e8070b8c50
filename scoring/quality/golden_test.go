package quality_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/internal/golden"
	"lethe/scoring/quality"
)

type goldenMetrics struct {
	Cases []struct {
		Name      string
		Y         []int
		Score     []float64
		Threshold float64
		Expect    struct {
			AUC               *float64 `json:"roc_auc"`
			AveragePrecision  *float64 `json:"average_precision"`
			Calibration       *float64 `json:"expected_calibration_error"`
			BestF1            *float64 `json:"best_f1"`
			Accuracy          float64
			Precision, Recall []float64
			F1                []float64
			Support           []int
			MacroF1Present    float64 `json:"macro_f1_present"`
		}
	}
}

func TestGoldenMetrics(t *testing.T) { golden.Each(t, "metrics.json", compareMetrics) }

func compareMetrics(t *testing.T, file goldenMetrics) {
	require.NotEmpty(t, file.Cases)
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			want := c.Expect
			if c.Score == nil {
				return
			}
			labels := make([]lethe.Label, len(c.Y))
			for i, y := range c.Y {
				labels[i] = []lethe.Label{lethe.Licit, lethe.Illicit}[y]
			}
			s := quality.Summarise(c.Score, labels, c.Threshold)
			nearOrNull(t, want.AUC, s.AUC, "AUC")
			nearOrNull(t, want.AveragePrecision, s.AveragePrecision, "average precision")
			// Vectors that were made elsewhere may be without these.
			if want.Calibration != nil {
				nearOrNull(t, want.Calibration, s.ExpectedCalibrationError, "calibration error")
				nearOrNull(t, want.BestF1, s.BestF1, "best F1")
			}
			golden.Near(t, want.Accuracy, s.Accuracy, "accuracy from scores")
			golden.Near(t, want.MacroF1Present, s.MacroF1, "macro F1 from scores")
			golden.Near(t, want.F1[1], s.IllicitF1, "illicit F1")
			golden.Near(t, want.Precision[1], s.Precision, "precision")
			golden.Near(t, want.Recall[1], s.Recall, "recall")
			require.Equal(t, len(c.Y), s.Labelled)
			require.Equal(t, want.Support[1], s.Illicit)
		})
	}
}

func nearOrNull(t *testing.T, want, got *float64, what string) {
	t.Helper()
	require.Equal(t, want == nil, got == nil, what)
	if want != nil {
		golden.Near(t, *want, *got, what)
	}
}
