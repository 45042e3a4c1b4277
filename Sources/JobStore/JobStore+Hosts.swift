/// What the store remembers of a host beside its jobs.
public struct HostContact: Sendable, Hashable {
  /// As the user names it.
  public let host: String
  /// When it was last connected to, in seconds since 1970 by this client's clock.
  public let at: Int64
  /// What carried that connection, with its version ("libssh2 1.10.0").
  public let engine: String
}

extension JobStore {
  /// Notes that `host` was connected to at `time` (seconds since 1970). A later contact that is
  /// known already stays.
  public func recordContact(
    with host: String, engine: String, at time: Int64 = JobStore.now()
  ) throws(StoreError) {
    try database.write { connection throws(StoreError) in
      try connection.run(
        """
        INSERT INTO host (name, contact_at, engine) VALUES (?, ?, ?)
        ON CONFLICT DO UPDATE SET contact_at = excluded.contact_at, engine = excluded.engine
        WHERE excluded.contact_at >= contact_at
        """, [.text(host), .integer(time), .text(engine)])
    }
  }

  /// All hosts that were ever connected to, the one last reached first.
  public func contacts() throws(StoreError) -> [HostContact] {
    var contacts: [HostContact] = []
    try database.connection.query(
      "SELECT name, contact_at, engine FROM host ORDER BY contact_at DESC, name", []
    ) { row throws(StoreError) in
      contacts.append(HostContact(host: row.text(0), at: row.integer(1), engine: row.text(2)))
      return true
    }
    return contacts
  }
}
