// Package command is what lethe's commands have in common: how a command line is
// run and ends, how results, progress and errors are shown, and the flags that
// several commands share.
//
//   - execute.go parses a command line, runs it and turns errors into exit statuses
//   - usage.go marks errors of wrong use
//   - app.go is what a command may touch of the outside world
//   - vars.go derives help and defaults of flags from the configurations of packages
//   - reference.go describes all commands, man.go and markdown.go write them as a manual page and as a Markdown page
//   - table.go and progress.go print for people
//   - configflags.go, logger.go, datadir.go and stream.go put together what most
//     commands begin with
package command
