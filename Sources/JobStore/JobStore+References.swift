import JobModel

extension JobStore {
  /// The job that a user means by `reference` (design.md §7), tried in this order: an id; `@` for the
  /// newest, `@2` for the one before it, `@dev1` for the newest on that host; a name; the beginning
  /// of an id.
  /// - Throws: `noSuchJob`, `ambiguous`.
  public func resolve(_ reference: String) throws(StoreError) -> Job {
    if let id = JobID(reference), let job = try job(id) { return job }
    if reference.hasPrefix("@") {
      let rest = String(reference.dropFirst())
      guard let job = try newest(rest) else { throw .noSuchJob(reference) }
      return job
    }
    if let job = try select("WHERE name = ?", [.text(reference)]).first { return job }
    let candidates = try jobs(idPrefix: reference)
    guard let job = candidates.first else { throw .noSuchJob(reference) }
    guard candidates.count == 1 else { throw .ambiguous(reference, candidates: candidates) }
    return job
  }

  /// What stands behind the `@`: nothing, a number, or a host.
  private func newest(_ rest: String) throws(StoreError) -> Job? {
    if rest.isEmpty { return try select("ORDER BY number DESC LIMIT 1", []).first }
    if rest.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      guard let place = Int64(rest), place > 0 else { return nil }
      let skip = SQLValue.integer(place - 1)
      return try select("ORDER BY number DESC LIMIT 1 OFFSET ?", [skip]).first
    }
    return try select("WHERE host = ? ORDER BY number DESC LIMIT 1", [.text(rest)]).first
  }

  private func jobs(idPrefix prefix: String) throws(StoreError) -> [Job] {
    let isPrefix = prefix.utf8.allSatisfy {
      (0x61...0x7A).contains($0) || (0x30...0x39).contains($0)
    }
    guard isPrefix, !prefix.isEmpty else { return [] }
    // `{` is the character after `z`, so this is the range of all ids that begin so.
    return try select(
      "WHERE id >= ? AND id < ? ORDER BY number DESC", [.text(prefix), .text(prefix + "{")])
  }
}
