// Package several runs the roles in processes of their own, with a data directory
// each, and does to them what happens to processes: one is stopped for longer than
// every timeout, has another secret, or is there twice.
package several
