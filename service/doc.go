// Package service runs lethe's roles in one process: the embedded broker if no
// other is named, the topics, the roles, metrics, health checks and the web
// interface. It is the only package that knows all the others, and it decides
// nothing but the order of starting and stopping.
package service
