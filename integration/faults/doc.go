// Package faults does to the disk of a running lethe what happens to disks: it is
// full, a folder becomes read-only, is lost or holds what it should not, somebody holds
// old files open; and to its topics what operators and producers do by mistake. The
// service says so and lives on, nothing half done is served, and what was asked for is
// finished once the fault is gone.
package faults
