// Package share lets the processes that stand by do a part of what the one that leads has to do
// to score a large timestep: they ask some of the models, and say on answers.v1 what these say.
//
// Nobody waits for anybody. The leader publishes a wire.Ask and begins with its own part of the
// models; each of the others begins with another part and publishes every answer when it has it.
// When the leader has come to the end of its part it goes on with what is not answered yet, from
// the end of the others' parts. So a process that is slow, stopped, or lacks the graph or a model
// costs nothing but its help. Answers are the same bits whoever gives them, and they are put
// together in the order of the models: predictions do not depend on who helped.
//
// Question and answers are withdrawn as soon as the leader has done without them: whatever
// stands on answers.v1 when it has asked nothing gets a tombstone, that of a leader before it, too.
// Answers name nobody, and no store of a role holds them.
//
//	board.go  what stands on answers.v1: the question, its answers, what is to be withdrawn
//	order.go  who begins with which models
//	help.go   a process that stands by: it reads graphs and questions, and answers
//	read.go   following the topics
package share
