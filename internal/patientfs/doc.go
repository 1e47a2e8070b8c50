// Package patientfs makes a file system whose writes wait while the disk takes none:
// it is full, read-only, or a folder's rights were taken away. Pebble ends the process
// when its log cannot be written, and repeats a failed flush without a pause. With this
// file system below it, Pebble loses nothing and goes on once the disk takes writes
// again.
//
// A failed sync is not waited for: nobody knows which bytes the operating system has
// dropped then.
package patientfs
