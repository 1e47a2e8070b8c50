// Package badinput checks with the real binary what becomes of wrong input:
// broken records among good ones, and command lines that cannot work.
package badinput
