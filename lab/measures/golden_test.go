package measures_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/internal/golden"
	"lethe/lab/measures"
)

// near is the references' rule for float64 code.
func near(t *testing.T, want, got float64, what string) {
	t.Helper()
	require.LessOrEqual(t, math.Abs(want-got), 1e-10+1e-9*math.Abs(want), "%s: want %v, got %v", what, want, got)
}

type goldenMetrics struct {
	Cases []struct {
		Name    string
		Classes int
		Y, Pred []int
		Expect  struct {
			Accuracy          float64
			Confusion         golden.Tensor
			Precision, Recall []float64
			F1                []float64
			Support           []int
			MacroF1           float64 `json:"macro_f1"`
			MacroF1Present    float64 `json:"macro_f1_present"`
		}
	}
}

func TestGoldenMetrics(t *testing.T) { golden.Each(t, "metrics.json", compareMetrics) }

func compareMetrics(t *testing.T, file goldenMetrics) {
	require.NotEmpty(t, file.Cases)
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			confusion, err := measures.NewConfusion(c.Y, c.Pred, c.Classes)
			require.NoError(t, err)
			want := c.Expect
			near(t, want.Accuracy, confusion.Accuracy(), "accuracy")
			near(t, want.MacroF1, confusion.MacroF1(), "macro F1")
			near(t, want.MacroF1Present, confusion.MacroF1Present(), "macro F1 over present classes")
			for class := range c.Classes {
				require.Equal(t, want.Support[class], confusion.Support(class))
				near(t, want.Precision[class], confusion.Precision(class), "precision")
				near(t, want.Recall[class], confusion.Recall(class), "recall")
				near(t, want.F1[class], confusion.F1(class), "F1")
				for predicted, n := range confusion[class] {
					require.Equal(t, want.Confusion.Data[class*c.Classes+predicted], float64(n))
				}
			}
		})
	}
}
