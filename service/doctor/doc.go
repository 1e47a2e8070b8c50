// Package doctor checks the environment of a deployment, before it runs or when there is a problem,
// and gives the remedy for each problem. It changes nothing: it creates no file, no topic and no
// record.
//
//	doctor.go   findings, and the order of the checks
//	files.go    the data directory: permissions, free disk space, keys
//	brokers.go  brokers, topics, rights, the clock compared to others
//	running.go  the service that runs with this configuration, if there is one
package doctor
