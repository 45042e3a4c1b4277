import CSSH2

extension SSHError {
  static func cancelled(host: String) -> SSHError {
    SSHError(.cancelled, .cancelled, host: host, "Cancelled")
  }
}

extension SSHConnection {
  /// libssh2's own words for its last error.
  var lastWords: String {
    guard let session else { return "no session" }
    var text: UnsafeMutablePointer<CChar>?
    var length: Int32 = 0
    _ = libssh2_session_last_error(session, &text, &length, 0)
    guard let text else { return "" }
    return String(cString: text)
  }

  /// The connection ended by itself. What carried it may know more.
  func lost(_ words: String) -> SSHError {
    SSHError(
      .transfer, .unreachable, host: host,
      "The connection was lost: \(carrier?.knownWords ?? words)")
  }

  /// The connection ended with this libssh2 error; a reason that the server gave comes first.
  func lost(_ code: Int32) -> SSHError {
    let detail = "libssh2 \(code), \(lastWords)"
    return lost(wire?.witness.disconnect.map { "the server said “\($0)” (\(detail))" } ?? detail)
  }
}
