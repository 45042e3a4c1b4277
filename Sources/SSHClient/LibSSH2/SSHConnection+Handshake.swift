import CSSH2

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension SSHConnection {
  private static let keyExchangePatience = Duration.seconds(20)

  /// Takes over a route, exchanges banners and keys; answers the key that the host showed, which
  /// nobody has judged yet.
  func handshake(
    _ route: Route, _ preferences: AlgorithmPreferences, _ liveness: Liveness,
    bannerDeadline: Duration
  ) async throws(SSHError) -> HostKey {
    let session = try adopt(route, liveness)
    let socket = route.socket
    try prefer(preferences, session)
    let bannerExpired = SSHError(
      .banner, .timedOut, host: host,
      "The server sent no SSH banner within \(bannerDeadline)")
    let isDone = try await perform(
      deadline: .now + bannerDeadline, expired: bannerExpired
    ) { _ in self.handshakeOnce(socket, preferences, untilBanner: true) }
    if !isDone {
      let expired = SSHError(
        .keyExchange, .timedOut, host: host,
        "The key exchange was not over within \(Self.keyExchangePatience)")
      _ = try await perform(
        deadline: .now + Self.keyExchangePatience, expired: expired
      ) { _ in self.handshakeOnce(socket, preferences, untilBanner: false) }
    }
    return try shownHostKey()
  }

  /// True when the handshake is over, false when only the server's banner is here.
  private func handshakeOnce(
    _ socket: Int32, _ preferences: AlgorithmPreferences, untilBanner: Bool
  ) -> Result<Bool, SSHError>? {
    guard let session else {
      return .failure(failure ?? lost("no session"))
    }
    let code = libssh2_session_handshake(session, socket)
    if code == 0 { return .success(true) }
    // libssh2 keeps whatever line came last: RFC 4253 §4.2 lets a server send others before.
    let hasBanner =
      libssh2_session_banner_get(session).map { strncmp($0, "SSH-", 4) == 0 } ?? false
    if code == LIBSSH2_ERROR_EAGAIN {
      return untilBanner && hasBanner ? .success(false) : nil
    }
    let error = hasBanner ? keyExchangeFailed(code, preferences) : bannerFailed(code)
    fail(error)
    return .failure(error)
  }

  private func bannerFailed(_ code: Int32) -> SSHError {
    let greeting = wire?.greeting ?? []
    if greeting.isEmpty || greeting.starts(with: "SSH-".utf8) {
      // Also what sshd does to a source that it found too busy (MaxStartups, PerSourcePenalties).
      return SSHError(
        .banner, .unreachable, host: host,
        "The server closed the connection before its SSH banner (libssh2 \(code), \(lastWords))",
        advice: "It may be busy, or shut you out for a while (MaxStartups, PerSourcePenalties)")
    }
    let line = String(decoding: greeting.prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
    let shown = String(line.unicodeScalars.map { $0.value < 0x20 ? "?" : Character($0) })
    // sshd(8) says so in place of its banner, for as long as it lasts: MaxStartups, PerSourcePenalties.
    if line == "Exceeded MaxStartups" || line == "Not allowed at this time" {
      return SSHError(
        .banner, line == "Exceeded MaxStartups" ? .busy : .unreachable, host: host,
        "The server takes no further connection for now: it answered “\(shown)”")
    }
    return SSHError(
      .banner, .refused, host: host, "This is no SSH server: it answered “\(shown)”",
      advice: "Check the host name and the port")
  }

  private func keyExchangeFailed(
    _ code: Int32, _ preferences: AlgorithmPreferences
  ) -> SSHError {
    let offers = wire?.witness.offers ?? []
    if code == LIBSSH2_ERROR_KEX_FAILURE, offers.count == 2 {
      let missing = offers[0].missing(from: offers[1])
      if !missing.isEmpty {
        let words = missing.map { purpose, offered in
          "\(purpose.rawValue) (it offers only \(offered.joined(separator: ", ")))"
        }
        return SSHError(
          .keyExchange, .refused, host: host,
          "The server and libssh2 \(LibSSH2Abilities.libraryVersion) share no algorithm for "
            + words.joined(separator: "; "),
          beyondLibSSH2: preferences.whatSSHCanDo(of: missing))
      }
    }
    let words = wire?.witness.disconnect.map { "the server said “\($0)”" } ?? lastWords
    // A server that has had enough says so; one that says nothing was cut off.
    let wasCut = wire?.hasEnded == true && wire?.witness.disconnect == nil
    let isLost =
      wasCut
      || [
        LIBSSH2_ERROR_SOCKET_RECV, LIBSSH2_ERROR_SOCKET_SEND, LIBSSH2_ERROR_SOCKET_DISCONNECT,
      ].contains(code)
    return SSHError(
      .keyExchange, isLost ? .unreachable : .refused, host: host,
      "The key exchange failed (libssh2 \(code), \(words))")
  }

  /// The host key algorithms that the two sides named, RFC 4253 §7.1.
  func hostKeyOffers() -> HostKeyOffers {
    guard let offers = wire?.witness.offers, offers.count == 2 else { return HostKeyOffers() }
    return HostKeyOffers(ours: offers[0].hostKey, server: offers[1].hostKey)
  }

  /// What the two sides agreed on, of what libssh2 knows.
  func agreement(on key: HostKey) -> ConnectionDescription {
    func method(_ number: Int32) -> String? {
      session.flatMap { libssh2_session_methods($0, number) }.map { String(cString: $0) }
    }
    var agreement = ConnectionDescription(engine: LibSSH2Abilities.libraryName)
    let banner = serverBanner
    let software = banner.hasPrefix("SSH-2.0-") ? String(banner.dropFirst(8)) : banner
    agreement.serverSoftware = software.isEmpty ? nil : software
    agreement.hostKey = "\(key.typeName) \(key.fingerprint)"
    agreement.keyExchange = method(LIBSSH2_METHOD_KEX)
    agreement.cipher = method(LIBSSH2_METHOD_CRYPT_SC)
    agreement.mac = method(LIBSSH2_METHOD_MAC_SC)
    return agreement
  }

  private func prefer(
    _ preferences: AlgorithmPreferences, _ session: OpaquePointer
  ) throws(SSHError) {
    let lists: [(String, [Int32], [String]?)] = [
      ("KexAlgorithms", [LIBSSH2_METHOD_KEX], preferences.keyExchange),
      ("HostKeyAlgorithms", [LIBSSH2_METHOD_HOSTKEY], preferences.hostKey),
      ("Ciphers", [LIBSSH2_METHOD_CRYPT_CS, LIBSSH2_METHOD_CRYPT_SC], preferences.ciphers),
      ("MACs", [LIBSSH2_METHOD_MAC_CS, LIBSSH2_METHOD_MAC_SC], preferences.macs),
    ]
    for case (let option, let methods, let names?) in lists {
      for method in methods {
        // Left to itself libssh2 drops unknown names with a memcpy onto the same memory.
        let known = supported(method, session)
        let list = names.filter(known.contains).joined(separator: ",")
        if !list.isEmpty, libssh2_session_method_pref(session, method, list) == 0 { continue }
        throw SSHError(
          .configuration, .badConfiguration, host: host,
          "libssh2 \(LibSSH2Abilities.libraryVersion) knows none of \(option) "
            + names.joined(separator: ","),
          beyondLibSSH2: "\(option) \(names.joined(separator: ","))")
      }
    }
  }

  private func supported(_ method: Int32, _ session: OpaquePointer) -> Set<String> {
    var names: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    let count = libssh2_session_supported_algs(session, method, &names)
    guard count > 0, let names else { return [] }
    defer { libssh2_free(session, names) }
    return Set((0..<Int(count)).compactMap { names[$0].map { String(cString: $0) } })
  }

  private func shownHostKey() throws(SSHError) -> HostKey {
    var length = 0
    var type: Int32 = 0
    if let session, let pointer = libssh2_session_hostkey(session, &length, &type),
      let key = HostKey(blob: [UInt8](UnsafeRawBufferPointer(start: pointer, count: length)))
    {
      return key
    }
    throw failure
      ?? SSHError(.hostKey, .refused, host: host, "The server showed no host key")
  }
}
