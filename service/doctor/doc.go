// Package doctor looks at what a deployment stands on, before it runs or when something
// is wrong, and says of everything that is not right what to do about it. It changes
// nothing: it makes no file, no topic and no record.
//
//	doctor.go   findings, and the order of the checks
//	files.go    the data directory: rights, room on the disk, keys
//	brokers.go  brokers, topics, rights, the clock beside that of others
//	running.go  the service that runs with this configuration, if one does
package doctor
