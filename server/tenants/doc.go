// Package tenants serves many databases from one directory with a SQLite file for each tenant. Clients choose their
// tenant by a token.
//
// Registry lists tenants. It is itself a database, tenants.sqlite in the directory, so changes are atomic and
// other processes may make them while a server runs. Manager belongs to that server: it has a server.Server for each
// tenant that has clients or an open file, and limits the number of open files.
package tenants
