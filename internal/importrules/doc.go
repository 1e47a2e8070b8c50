// Package importrules holds the packages to the table of DESIGN.md, whose last
// column says what each may import of the others: its tests compare the table
// with the imports. They also keep the numeric core pure, and bound what the
// linter cannot count, methods of a type and files of a package.
//
// In that column a package has its path, or as much of the end of it as is
// unique; root is the package of the module's folder, and x/... is x with all
// below it. "all above" are the packages of the rows before, "nothing" are none.
// A package that no row names belongs to the row of the folder it lies in, and
// packages of one folder's row may import each other.
package importrules
