package measures_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/internal/golden"
	"lethe/lab/measures"
)

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
			golden.Near(t, want.Accuracy, confusion.Accuracy(), "accuracy")
			golden.Near(t, want.MacroF1, confusion.MacroF1(), "macro F1")
			golden.Near(t, want.MacroF1Present, confusion.MacroF1Present(), "macro F1 over present classes")
			for class := range c.Classes {
				require.Equal(t, want.Support[class], confusion.Support(class))
				golden.Near(t, want.Precision[class], confusion.Precision(class), "precision")
				golden.Near(t, want.Recall[class], confusion.Recall(class), "recall")
				golden.Near(t, want.F1[class], confusion.F1(class), "F1")
				for predicted, n := range confusion[class] {
					require.Equal(t, want.Confusion.Data[class*c.Classes+predicted], float64(n))
				}
			}
		})
	}
}
