// Package importrules checks imports against the table of docs/packages.md, whose last column lists the other packages
// that each package may import. Its tests also keep the numeric core pure, and enforce limits that the linter cannot
// count: methods of a type and files of a package.
//
// In that column a package is written as its path, or as a unique suffix of it; root is the
// package of the module's folder, and x/... is x with everything below it. "all above" means the
// packages of the previous rows, "nothing" means no package. A package without a row belongs to
// the row of its parent folder, and packages of one folder's row may import each other.
package importrules
