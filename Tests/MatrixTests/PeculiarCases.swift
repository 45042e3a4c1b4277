import TestSupport

/// Servers, networks and configurations with something unusual about them.
extension Case {
  static let peculiar: [Case] = algorithms + limits + conversations + routes

  private static let algorithms = [
    Case("only an RSA host key") { $0.hostKeys = [.rsa3072] },
    Case("only an ECDSA host key") { $0.hostKeys = [.ecdsa256] },
    Case("only chacha20-poly1305") { $0.server = ["Ciphers chacha20-poly1305@openssh.com"] },
    Case("only AES-GCM") { $0.server = ["Ciphers aes128-gcm@openssh.com,aes256-gcm@openssh.com"] },
    Case("only AES-CTR with encrypt-then-MAC") {
      $0.server = [
        "Ciphers aes128-ctr,aes256-ctr",
        "MACs hmac-sha2-256-etm@openssh.com,hmac-sha2-512-etm@openssh.com",
      ]
    },
    // The server part of ssh-audit.com's guide for Debian 12.
    Case("hardened after ssh-audit") {
      $0.hostKeys = [.rsa4096, .ed25519]
      $0.server = [
        "KexAlgorithms sntrup761x25519-sha512@openssh.com,curve25519-sha256,"
          + "curve25519-sha256@libssh.org,diffie-hellman-group18-sha512,"
          + "diffie-hellman-group-exchange-sha256,diffie-hellman-group16-sha512",
        "Ciphers chacha20-poly1305@openssh.com,aes256-gcm@openssh.com,aes128-gcm@openssh.com,"
          + "aes256-ctr,aes192-ctr,aes128-ctr",
        "MACs hmac-sha2-512-etm@openssh.com,hmac-sha2-256-etm@openssh.com,"
          + "umac-128-etm@openssh.com",
        "RequiredRSASize 3072",
        "HostKeyAlgorithms ssh-ed25519,rsa-sha2-512,rsa-sha2-256",
        "PubkeyAcceptedAlgorithms ssh-ed25519,rsa-sha2-512,rsa-sha2-256",
      ]
    },
    // Mozilla's OpenSSH guidelines, "Modern".
    Case("Mozilla modern") {
      $0.hostKeys = [.ed25519, .rsa4096, .ecdsa256]
      $0.server = [
        "KexAlgorithms curve25519-sha256@libssh.org,ecdh-sha2-nistp521,ecdh-sha2-nistp384,"
          + "ecdh-sha2-nistp256,diffie-hellman-group-exchange-sha256",
        "Ciphers chacha20-poly1305@openssh.com,aes256-gcm@openssh.com,aes128-gcm@openssh.com,"
          + "aes256-ctr,aes192-ctr,aes128-ctr",
        "MACs hmac-sha2-512-etm@openssh.com,hmac-sha2-256-etm@openssh.com,"
          + "umac-128-etm@openssh.com,hmac-sha2-512,hmac-sha2-256,umac-128@openssh.com",
        "AuthenticationMethods publickey",
      ]
    },
  ]

  private static let limits = [
    Case("MaxStartups 1") { $0.server = ["MaxStartups 1"] },
    Case("MaxStartups 1, and another connection has it") {
      $0.server = ["MaxStartups 1:100:1"]
      $0.front = .otherConnection
      $0.failure = "banner, busy"
      // It says no more than that the connection was closed.
      $0.failureBySSH = "banner, unreachable"
    },
    Case("MaxSessions 1") { $0.server = ["MaxSessions 1"] },
    Case("ForceCommand") {
      $0.server = ["ForceCommand echo forced; exit 4"]
      $0.work.output = Array("forced\n".utf8)
      $0.work.code = 4
    },
    Case("no SFTP") { $0.hasSFTP = false },
  ]

  private static let conversations = [
    Case("a banner of 5,000 lines") {
      $0.files = ["banner": String(repeating: "No trespassing, on no account.\n", count: 5000)]
      $0.server = ["Banner {folder}/banner"]
    },
    Case("lines before the version") { $0.front = .linesBeforeVersion },
    Case("an HTTP server") {
      $0.front = .plain(.http)
      $0.failure = "banner, refused"
      $0.failureBySSH = "banner, unreachable"
    },
    Case("a tarpit") {
      $0.front = .plain(.tarpit)
      $0.client = ["ConnectTimeout 3"]
      $0.failure = "banner, timedOut"
    },
    Case("closed at once") {
      $0.front = .plain(.closesAtOnce)
      $0.failure = "banner, unreachable"
    },
    Case("new keys every 8 MB in both directions") {
      $0.server = ["RekeyLimit 8M"]
      $0.work.command = "cat; exit 3"
      $0.work.inputBytes = 30 << 20
      $0.work.output = [UInt8](repeating: 0, count: 30 << 20)
    },
    Case("ClientAliveInterval 1, and a silent command") {
      $0.server = ["ClientAliveInterval 1", "ClientAliveCountMax 2"]
      $0.work.command = "sleep 5; echo hello; exit 3"
    },
  ]

  private static let routes = [
    Case("ProxyJump over two hops with a key each") {
      $0.front = .twoJumps
      $0.client = ["ProxyJump hop1,hop2"]
    },
    Case("ProxyCommand") { $0.client = ["ProxyCommand socat - TCP:%h:%p"] },
    Case("Include") { $0.style = .include },
    Case("Match exec") { $0.style = .matchExec },
    Case("IPv6 only") { $0.address = "::1" },
    // `localhost` is ::1 first, and nobody listens there.
    Case("a name whose IPv6 address does not answer") { $0.address = "localhost" },
  ]
}
