package local

import sqlite3 "modernc.org/sqlite/lib"

// SQLiteVersion is the version of the SQLite inside.
const SQLiteVersion = sqlite3.SQLITE_VERSION
