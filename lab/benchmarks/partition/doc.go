// Command partition measures the partitioner: how time and memory grow with the
// graph, how it compares with METIS on the same graphs in the same run, and what
// its choices mean for the quality of models and the cost of erasures.
//
//	main.go, row.go, process.go            the command, a line of the table, time and memory
//	growth.go, real.go, metis.go, plot.go  growing graphs, real graphs, METIS, the figures
//	tradeoff*.go                           what a low cut saves and costs
package main
