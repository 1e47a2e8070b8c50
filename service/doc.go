// Package service runs lethe's roles in one process: the embedded broker if no
// other is named, the topics, the roles, metrics, health checks and the web
// interface. It is the only package that knows all the others, and it decides
// nothing but the order of starting and stopping.
//
//	service.go, modules.go         the process, and its parts in the order of their needs
//	roles.go                       each role with its options
//	shared.go, register.go         settings that processes share; one data directory per role
//	partitions.go, lag.go          partitions that were added; how far the roles are behind
//	outage.go, disk.go, remedy.go  what is waited for, and what an operator can do
//	status.go, web.go, log.go      what the process tells; the embedded broker's log as files
//	replay.go                      a dataset published, record by record
package service
