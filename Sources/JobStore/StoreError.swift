import JobModel

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Why the store could not do what was asked. Nothing was changed then.
public enum StoreError: Error, Sendable {
  /// SQLite refused; its own words are inside.
  case sqlite(SQLiteFailure)
  /// Another process kept the write lock for all this time.
  case lockHeld(path: String, seconds: Int)
  /// A file or folder of the store could not be used; `errno` as errno(3).
  case file(path: String, doing: String, errno: Int32)
  /// The store was written by a newer version of Pocket. It was not touched.
  case newerVersion(path: String, found: Int, known: Int)
  /// The file is a database of some other program.
  case notAStore(path: String)
  /// It cannot be said where the store lies.
  case noPlace(String)
  /// A test process tried to open a store outside of the temporary folder (invariant 10).
  case testProcess(path: String)
  /// What the store holds makes no sense.
  case damaged(path: String, what: String)
  /// The job cannot be stored as it is.
  case invalidRequest(RequestError)
  /// There is a job with this id already.
  case idTaken(JobID)
  /// Another job bears this name.
  case nameTaken(String, by: JobID)
  /// Nothing in the store is meant by this.
  case noSuchJob(String)
  /// Several jobs are meant by this.
  case ambiguous(String, candidates: [Job])
  /// The job's end is proved: its output is complete, and nothing can be added.
  case ended(JobID)
  /// What was to be committed is not one piece beginning at the expected offset.
  case notContiguous(JobID, JobStream, expected: ByteOffset, found: ByteOffset)
  /// A file stands where the backup was to go. It was not touched.
  case backupExists(path: String)
}

extension StoreError {
  /// Whether others keep the store busy: the same may succeed when they are done.
  public var isBusy: Bool {
    switch self {
    case .lockHeld: true
    // SQLITE_BUSY, SQLITE_LOCKED.
    case .sqlite(let failure): failure.primaryCode == 5 || failure.primaryCode == 6
    default: false
    }
  }
}

/// An error of SQLite's.
public struct SQLiteFailure: Sendable, Hashable {
  /// The extended result code (sqlite.org/rescode.html).
  public var code: Int32
  /// SQLite's own words.
  public var words: String
  /// What was being done.
  public var doing: String
  /// The database file.
  public var path: String

  /// The primary result code.
  public var primaryCode: Int32 { code & 0xFF }
}

extension StoreError: CustomStringConvertible {
  /// What happened, where, and what to do, for people.
  public var description: String {
    switch self {
    case .sqlite(let failure): failure.description
    case .lockHeld(let path, let seconds):
      "Another pocket process has been writing to \(path) for \(seconds) s. Try again; if it stays"
        + " so, look for a stopped pocket process."
    case .file(let path, let doing, let code):
      "Could not \(doing) \(path): \(String(cString: strerror(code)))."
        + (code == ENOSPC || code == EDQUOT ? " Free some space." : " Check who may write there.")
    case .newerVersion(let path, let found, let known):
      "The store \(path) was written by a newer Pocket (format \(found), this one knows \(known))."
        + " It was left as it is. Update Pocket."
    case .notAStore(let path):
      "\(path) is a database, but not one of Pocket's. Move it away, or set POCKET_HOME."
    case .noPlace(let why): "It is not clear where the store lies: \(why). Set POCKET_HOME."
    case .testProcess(let path):
      "A test tried to open the store \(path), which is not in the temporary folder. Give the test"
        + " a store of its own."
    case .damaged(let path, let what):
      "The store \(path) is damaged: \(what). Keep a copy, and try `sqlite3 FILE .recover`."
    case .invalidRequest(let error): error.description
    case .idTaken(let id): "There is a job \(id) already."
    case .nameTaken(let name, let id):
      "The name \(name) belongs to job \(id). Choose another, or remove that job."
    case .noSuchJob(let reference): "No job is meant by \"\(reference)\". `pocket ls` lists them."
    case .ambiguous(let reference, let candidates):
      "\"\(reference)\" may mean any of \(candidates.map(\.id.description).joined(separator: ", "))."
        + " Write more of the id."
    case .ended(let id): "The output of job \(id) is complete; nothing can be added to it."
    case .notContiguous(let id, let stream, let expected, let found):
      "Output of job \(id) (\(stream.rawValue)) was to be stored at \(found), but \(expected) comes"
        + " next."
    case .backupExists(let path): "\(path) exists already and was left as it is. Name another file."
    }
  }
}

extension SQLiteFailure: CustomStringConvertible {
  /// What happened, where, and what to do, for people.
  public var description: String {
    "Could not \(doing) in \(path): \(words) (SQLite \(code)).\(advice)"
  }

  // Numbers of sqlite.org/rescode.html: this file does not need the library.
  private var advice: String {
    switch primaryCode {
    case 5, 6: " Another program keeps the file busy; try again when it is done."
    case 8, 3, 14, 23: " Check who may write to the file and its folder."
    case 10: " The disk reports an error; check it before anything else is written."
    case 11, 26: " The file is damaged. Keep a copy, and try `sqlite3 FILE .recover`."
    case 13: " The disk is full. Free some space; nothing that was stored is lost."
    default: ""
    }
  }
}
