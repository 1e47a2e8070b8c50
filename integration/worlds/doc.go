// Package worlds tries random worlds: a stream with late, repeated, corrected, moved and
// broken records, random settings of when timesteps end, requests for erasure before,
// during and after their targets, together or apart, with deadlines, holds and cancellations, a
// backup that is put back, batches that nobody can read, transactions that stay open for a while,
// and up to two kills at random writes,
// of the process or of the machine. All roles run in one goroutine over topics and files in
// memory, and what they write comes in the same sequence every time, so a world that fails
// can be played again from its seed, and is made smaller. In some worlds two or three processes
// train together: what is assigned to whom is drawn, some hear of it late or never, and each is
// killed and comes back on its own. In others one of several processes leads graphs and erasures, or
// score, while others stand by: each is killed, hangs and comes back, at any write, and takes over.
// In both kinds processes are cut off from their brokers, and write again what was not acknowledged.
//
//	draw_test.go, records_test.go    a world is drawn
//	world_test.go                    what it is, and the one without the targets
//	ahead_test.go                    what comes of targets once they are suppressed
//	deployment_test.go, run_test.go  all roles; a world is played to its end
//	options_test.go, clock_test.go   what roles are opened with
//	operated_test.go, cancelled_test.go, restore_test.go  what operators do
//	several_test.go, crew_test.go, losses_test.go   those that train together, and what goes from one to another
//	groups_test.go, group_test.go    those of which one leads, as brokers know them
//	host_test.go, thread_test.go     a process that leads or stands by, and where it stops
//	runs_test.go                     which processes a data directory had
//	newcomers_test.go                processes that begin later, or again, with an empty folder
//	change_test.go                   what happens to them, and to what they write
//	disk_test.go, file_test.go       files in memory, and how a process ends
//	topics_test.go                   topics in memory, whose writes count as well
//	state_test.go, log_test.go       what is left, and what must be known of the past
//	witness_test.go, purged_test.go  what is looked at the moment it is written
//	commands_test.go                 what must not be left once nothing is to be done
//	compare_test.go, cut_test.go     compared with the world without: graphs, letters, slices
//	hidden_test.go                   batches that nobody can read, and transactions that stay open
//	committed_test.go                what the log commits to as gone
//	models_test.go, predictions_test.go, receipts_test.go   and what follows from them
//	search_test.go                   a search that decodes JSON and shares nothing with lethe's
//	told_test.go, toldagain_test.go, unlearnt_test.go  worlds that are told, not drawn
//
// What is left of a world in the end is compared with the same stream without the
// targets and without every record that names one, and searched for the targets.
//
//	make worlds RUNS=1000                                         as many as are asked for
//	go test ./integration/worlds -run Unordered -rapid.seed=S      a world that failed, once more
package worlds
