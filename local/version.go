package local

import sqlite3 "modernc.org/sqlite/lib"

// SQLiteVersion is the version of the embedded SQLite.
const SQLiteVersion = sqlite3.SQLITE_VERSION
