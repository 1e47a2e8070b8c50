// Command erasure measures what erasures cost. run starts a service with the embedded
// broker in this process, sends a stream through it and erases transactions, one request
// after the other or many at once. It prints how long each round took to every state,
// and the processor time of the process and that of training every checkpoint again
// in the same process. With --rows it keeps what it measured, and render makes tables
// and figures of it:
//
//	go run ./lab/benchmarks/erasure --dataset ../shared/data/bitcoin-otc/elliptic-format --rows rows.jsonl
//	go run ./lab/benchmarks/erasure render rows.jsonl --figures docs/img
//
//	main.go                            the command
//	run.go, measure.go, deployment.go  rounds of requests, their times, the service under them
//	customers.go                       customers with transactions over all timesteps
//	rows.go, render.go, figures.go     what was measured, as tables and figures
package main
