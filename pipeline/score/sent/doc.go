// Package sent tells which predictions a process that led before has published, so that the one that
// takes over gives no others. It reads predictions.v1 from where who leads has said that all before is
// noted, into memory: nothing of it is stored, and so nothing of it has to be erased. It also reads what
// that one has said on control.v1 of the timesteps that it has scored.
package sent
