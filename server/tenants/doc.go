// Package tenants is many databases on one machine: a directory with a SQLite file for each tenant, whose
// clients say by a token which one is theirs.
//
// Book is the list of the tenants. It is a database itself, tenants.sqlite in the directory, so that
// changes are whole and several processes may make them while a server runs. House is that server's
// side: a server.Server for each tenant that has clients or an open file, and no more open files than
// it may have.
package tenants
