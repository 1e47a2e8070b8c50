package trees_test

import (
	"context"
	"fmt"
	"math"

	"lethe/trainer/tabular"
	"lethe/trainer/trees"
)

// Payments are suspicious if they are large and come from a young account. One row
// does not know how old its account is.
func Example() {
	rows := tabular.Rows{Cols: 2} // amount, age of the account in days
	for i := range 400 {
		amount, age := float32(i%20), float32(i/20)
		label := int32(0)
		if amount >= 12 && age < 8 {
			label = 1
		}
		rows.Features = append(rows.Features, amount, age)
		rows.Labels = append(rows.Labels, label)
	}
	rows.Features[1] = float32(math.NaN())

	config := trees.Defaults()
	config.Rounds, config.MaxLeaves, config.RowShare, config.Seed = 50, 4, .8, 7
	model, _, err := trees.Fit(context.Background(), rows, config)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := model.Probabilities([]float32{18, 2, 18, 15, 3, 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("large and young %.2f, large and old %.2f, small and young %.2f\n", p[1], p[3], p[5])
	for tree := range model.Trees() {
		root := tree.Nodes[0]
		fmt.Printf("the first split: feature %d at %g, %g rows\n", root.Feature, root.Threshold, root.Cover)
		break
	}
	// Output:
	// large and young 0.99, large and old 0.00, small and young 0.00
	// the first split: feature 1 at 7.5, 325 rows
}
