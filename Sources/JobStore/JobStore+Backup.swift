#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension JobStore {
  /// Writes a copy of the whole store, as it is at this moment, to a new file with mode 0600. A copy
  /// of the main file alone would lack what is still in the write-ahead log.
  /// - Throws: `backupExists` when something stands at `path`; it is not touched.
  public func backup(to path: String) throws(StoreError) {
    // VACUUM INTO takes an empty file for a new one (sqlite.org/lang_vacuum.html). So the file is
    // claimed here, with its mode, and nobody else's file is overwritten.
    let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      throw errno == EEXIST
        ? .backupExists(path: path) : .file(path: path, doing: "make the backup", errno: errno)
    }
    close(file)
    do throws(StoreError) {
      try database.connection.run("VACUUM INTO ?", [.text(path)])
    } catch {
      unlink(path)
      throw error
    }
  }
}
