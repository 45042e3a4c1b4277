// What Swift cannot import from sqlite3.h: variadic functions and macros with casts. Nothing else
// belongs here. One prefix: `pocket_`.
#pragma once
#include <sqlite3.h>

// The bytes stay where they are until the statement is reset: no copy.
static inline int pocket_bind_static_blob(sqlite3_stmt *statement, int index, const void *bytes,
                                          sqlite3_uint64 count) {
  return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_STATIC);
}

// SQLite makes its own copy of the bytes.
static inline int pocket_bind_blob(sqlite3_stmt *statement, int index, const void *bytes,
                                   sqlite3_uint64 count) {
  return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}
static inline int pocket_bind_text(sqlite3_stmt *statement, int index, const char *bytes,
                                   sqlite3_uint64 count) {
  return sqlite3_bind_text64(statement, index, bytes, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

// The last connection that closes would checkpoint, at a moment nobody else can know of.
static inline int pocket_forbid_checkpoint_on_close(sqlite3 *connection) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
