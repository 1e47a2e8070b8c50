// Package receipts checks the receipts that the real binary signs with other people's
// programs: PyJWT and jwcrypto (Python), jose (Node), rfc8785 (Python, for the canonical
// form). They are installed into a folder of the test from PyPI and npm; where python3, node
// or the registries are not there, the tests skip and say so, unless INTEROP is
// "required", as `make interop` has it.
package receipts
