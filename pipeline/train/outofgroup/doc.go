// Package outofgroup lets the processes that train share what is asked to learn the meta-model: what
// models say of the labelled nodes of slices that they have not learnt from. One of them learns it, and has all
// models to ask; the others, which have them too, would do nothing meanwhile.
//
// Nobody waits for anybody. The process that learns begins with the oldest slice, the others with the newest,
// and they say on answers.v1 what they were told of each. Whatever is there when its turn comes is not
// asked again. Answers are the same bits whoever gives them, so the meta-model does not depend on who
// helped. Who learns withdraws the answers when it has the meta-model, and those that others left. They
// name nobody, and no store of a role holds them.
//
//	board.go   what stands on answers.v1, as one process sees it
//	read.go    following the topic
//	work.go    the slices of a timestep that are still to be asked about
package outofgroup
