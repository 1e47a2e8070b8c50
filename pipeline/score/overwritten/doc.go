// Package overwritten finds final predictions in whose place a process has written that led no more.
package overwritten
