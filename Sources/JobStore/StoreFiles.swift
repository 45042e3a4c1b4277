#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

// The store's folder is 0700 and its files are 0600: they hold prompts and output.
extension StoreLocation {
  /// Makes folder and file where they are missing, and takes others' rights away where they are not.
  func prepare() throws(StoreError) {
    try Self.makeFolders(folder)
    try Self.makePrivate(folder, mode: 0o700)
    try Self.makeFile(path)
    // SQLite gives -wal and -shm the mode of the database when it makes them.
    try Self.makePrivate(path, mode: 0o600)
  }

  private static func makeFolders(_ path: String) throws(StoreError) {
    var status = stat()
    if stat(path, &status) == 0 || path == "/" { return }
    try makeFolders(StoreLocation(path: path).folder)
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw .file(path: path, doing: "make the folder", errno: errno)
    }
  }

  private static func makeFile(_ path: String) throws(StoreError) {
    let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    // Only a file that was just made may be closed here: closing drops this process's fcntl locks
    // on it (fcntl(2)), and another connection of ours may hold some on an older file.
    guard file >= 0 || errno == EEXIST else {
      throw .file(path: path, doing: "make the file", errno: errno)
    }
    if file >= 0 { close(file) }
  }

  private static func makePrivate(_ path: String, mode: mode_t) throws(StoreError) {
    var status = stat()
    guard stat(path, &status) == 0 else {
      throw .file(path: path, doing: "look at", errno: errno)
    }
    if status.st_mode & 0o077 != 0, chmod(path, mode) != 0 {
      throw .file(path: path, doing: "make private", errno: errno)
    }
  }
}
