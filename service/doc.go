// Package service runs lethe's roles in one process: the embedded broker unless external brokers
// are configured, the topics, the roles, metrics, health checks and the web interface. It is the
// only package that knows all the others, and it decides only the order of starting and stopping.
//
//	service.go, modules.go         the process, and its modules in the order of their dependencies
//	roles.go                       each role with its options
//	shared.go, register.go         settings that processes must share; one data directory per role
//	lag.go                         the roles' lag
//	outage.go, disk.go, remedy.go  outages, and the remedies for operators
//	status.go, web.go, log.go      status and logging; the embedded broker's log as files
//	replay.go                      publishing of a dataset, record by record
package service
