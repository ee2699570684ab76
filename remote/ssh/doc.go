// Package ssh connects to servers and files on other machines through the system's ssh, so that its configuration, keys
// and agent work. Each connection is a process: ssh -W forwards one to a server, and meowdis serve --stdio serves a file.
package ssh
