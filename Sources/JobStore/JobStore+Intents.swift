import JobModel

/// A wish of the user that waits for its host.
public struct Intent: Sendable, Hashable {
  /// What is wished.
  public enum Kind: String, Sendable { case cancel }

  /// The job it is about.
  public let job: JobID
  /// What is wished.
  public let kind: Kind
  /// What it is about within the job, where one job can have several wishes of a kind; else empty.
  public let subject: String
  /// How it is to be carried out, in the words of its kind, on one line.
  public let wish: String
  /// When it was first wished, in seconds since 1970.
  public let wantedAt: Int64

  /// A wish of these values.
  public init(job: JobID, kind: Kind, subject: String = "", wish: String = "", wantedAt: Int64) {
    self.job = job
    self.kind = kind
    self.subject = subject
    self.wish = wish
    self.wantedAt = wantedAt
  }
}

extension JobStore {
  /// Keeps a wish, made at `time` (seconds since 1970), until it was carried out. A second one of
  /// its kind and subject replaces how it is to be carried out; its age stays.
  public func addIntent(
    _ kind: Intent.Kind, for id: JobID, subject: String = "", wish: String = "",
    at time: Int64 = JobStore.now()
  ) throws(StoreError) {
    try database.write { connection throws(StoreError) in
      try connection.run(
        """
        INSERT INTO intent (job, kind, subject, wish, wanted_at) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET wish = excluded.wish
        """,
        [
          try Self.number(of: id, connection), .text(kind.rawValue), .text(subject), .text(wish),
          .integer(time),
        ])
    }
  }

  /// The wishes that wait for `host`, or for any host, the oldest first. One that is being carried
  /// out is among them.
  public func intents(for host: String? = nil) throws(StoreError) -> [Intent] {
    try intentRows("WHERE ?1 IS NULL OR host = ?1", [SQLValue(host)]).map(\.intent)
  }

  /// The wishes about one job, the oldest first.
  public func intents(of id: JobID) throws(StoreError) -> [Intent] {
    try intentRows("WHERE job.id = ?", [.text(id.description)]).map(\.intent)
  }

  /// Takes hold of a job's wish, so that nobody else carries it out meanwhile; nil when there is
  /// none, or when somebody else holds it.
  public func claimIntent(
    _ kind: Intent.Kind, of id: JobID, subject: String = "", at time: Int64 = JobStore.now()
  ) throws(StoreError) -> IntentClaim? {
    try claimFirst(
      "WHERE job.id = ? AND kind = ? AND subject = ?",
      [.text(id.description), .text(kind.rawValue), .text(subject)], at: time)
  }

  /// Takes hold of the oldest wish for `host` that nobody holds.
  ///
  /// - Parameter number: wishes up to this number of a claim were tried already.
  public func claimNextIntent(
    for host: String, after number: Int64 = 0,
    at time: Int64 = JobStore.now()
  ) throws(StoreError) -> IntentClaim? {
    try claimFirst(
      "WHERE host = ? AND intent.number > ?", [.text(host), .integer(number)], at: time)
  }

  /// Holds on to a wish for as long again. It does nothing when the claim was lost: the work on it
  /// took too long, and somebody else has begun anew.
  public func renew(_ claim: IntentClaim, at time: Int64 = JobStore.now()) throws(StoreError) {
    try database.write { connection throws(StoreError) in
      try connection.run(
        "UPDATE intent SET held_until = ? WHERE number = ? AND holder = ?",
        [.integer(time + IntentClaim.lease), .integer(claim.number), .text(claim.holder)])
    }
  }

  /// Forgets a wish that was carried out, or that never can be.
  ///
  /// - Returns: false when it was replaced meanwhile by one that asks for something else. Then that
  ///   one waits now, and nobody holds it.
  @discardableResult
  public func finish(_ claim: IntentClaim) throws(StoreError) -> Bool {
    try database.write { connection throws(StoreError) in
      try connection.run(
        "DELETE FROM intent WHERE number = ? AND wish = ?",
        [.integer(claim.number), .text(claim.intent.wish)])
      if connection.changedRows > 0 { return true }
      return try !Self.letGo(of: claim, connection)
    }
  }

  /// Lets a wish wait for the next contact.
  public func release(_ claim: IntentClaim) throws(StoreError) {
    try database.write { connection throws(StoreError) in
      _ = try Self.letGo(of: claim, connection)
    }
  }

  /// Whether there was something to let go of.
  private static func letGo(
    of claim: IntentClaim, _ connection: Connection
  ) throws(StoreError) -> Bool {
    try connection.run(
      "UPDATE intent SET holder = NULL, held_until = NULL WHERE number = ? AND holder = ?",
      [.integer(claim.number), .text(claim.holder)])
    return connection.changedRows > 0
  }

  private struct IntentRow {
    let number: Int64
    let intent: Intent
    let holder: String?
    let heldUntil: Int64

    /// Whether whoever holds it still does. An end that lies further ahead than any claim reaches
    /// was written before the clock was set back.
    func isHeld(at time: Int64, in location: StoreLocation) -> Bool {
      guard let holder, heldUntil > time, heldUntil <= time + IntentClaim.lease else {
        return false
      }
      return HolderMark.isAlive(holder, in: location)
    }
  }

  private func claimFirst(
    _ condition: String, _ values: [SQLValue], at time: Int64
  ) throws(StoreError) -> IntentClaim? {
    let location = location
    // Nothing is written, and nobody's write waited for, where nothing waits.
    guard try !intentRows(condition, values).isEmpty else { return nil }
    let mark = try HolderMark(in: location)
    return try database.write { connection throws(StoreError) in
      let free = try intentRows(condition, values).first {
        !$0.isHeld(at: time, in: location)
      }
      guard let free else { return nil }
      try connection.run(
        "UPDATE intent SET holder = ?, held_until = ? WHERE number = ?",
        [.text(mark.word), .integer(time + IntentClaim.lease), .integer(free.number)])
      return IntentClaim(intent: free.intent, number: free.number, mark: mark)
    }
  }

  private func intentRows(
    _ condition: String, _ values: [SQLValue]
  ) throws(StoreError) -> [IntentRow] {
    let connection = database.connection
    var rows: [IntentRow] = []
    try connection.query(
      """
      SELECT intent.number, job.id, kind, subject, wish, wanted_at, holder, held_until
      FROM intent JOIN job ON job.number = intent.job \(condition) ORDER BY intent.number
      """, values
    ) { row throws(StoreError) in
      guard let job = JobID(row.text(1)), let kind = Intent.Kind(rawValue: row.text(2)) else {
        throw .damaged(path: connection.path, what: "an intent of \(row.text(1)) cannot be read")
      }
      let intent = Intent(
        job: job, kind: kind, subject: row.text(3), wish: row.text(4), wantedAt: row.integer(5))
      rows.append(
        IntentRow(
          number: row.integer(0), intent: intent, holder: row.optionalText(6),
          heldUntil: row.integer(7)))
      return true
    }
    return rows
  }
}
