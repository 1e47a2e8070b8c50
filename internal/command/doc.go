// Package command is the common part of lethe's commands: how a command line is run and ends, how results, progress
// and errors are shown, and shared flags.
//
//   - execute.go parses a command line, runs it and turns errors into exit statuses
//   - usage.go marks errors of wrong use
//   - app.go is a command's access to the outside world
//   - vars.go derives help and defaults of flags from the configurations of packages
//   - reference.go describes all commands, man.go and markdown.go write them as a manual page and as a Markdown page
//   - table.go and progress.go print for people
//   - configflags.go, logger.go, datadir.go and stream.go are the common first steps of commands
package command
