// Package accesstest holds the tests of who may do what, on the wire: signed
// tokens, real memberships, the whole catalog. What is expected of each tool,
// resource, prompt and completion is computed from the tables that declare
// them; none of it is written down twice.
package accesstest
