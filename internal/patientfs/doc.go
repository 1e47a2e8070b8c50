// Package patientfs is a file system whose writes wait while the disk is full or read-only, or the permissions of a
// folder are missing. Pebble ends the process when its log cannot be written, and retries a failed flush without a
// pause. On this file system Pebble loses nothing and continues once writes succeed again.
//
// A failed sync is not retried: it is unknown which bytes the operating system has dropped.
package patientfs
