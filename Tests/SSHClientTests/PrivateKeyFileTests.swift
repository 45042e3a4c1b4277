import TestSupport
import Testing

@testable import SSHClient

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a key file tells before and after its passphrase, without any server.
@Suite struct PrivateKeyFileTests {
  @Test(arguments: [["-m", "PEM"], ["-m", "PKCS8"], []])
  func aWrongPassphraseIsAlwaysCalledThat(form: [String]) async throws {
    let content = try await makeKey("ecdsa", form + ["-a", "1"], "right")
    let file = PrivateKeyFile(path: "key", content: content)
    // A wrong one has a chance of 1 in 256 to look right to a block cipher's padding.
    for number in 0..<(form.isEmpty ? 3 : 600) {
      #expect(failure(file, "wrong \(number)") == .wrongPassphrase, "\(number)")
    }
    #expect(failure(file, "right") == nil)
  }

  @Test func anUnknownCipherIsToldFromAWrongPassphrase() async throws {
    let pem = try await makeKey("rsa", ["-m", "PEM"], "right")
    // DES is in OpenSSL's legacy provider only; the other is nowhere.
    for cipher in ["DES-CBC", "NONE-SUCH"] {
      let other = String(decoding: pem, as: UTF8.self)
        .split(separator: "\n", omittingEmptySubsequences: false)
        .map { $0.hasPrefix("DEK-Info:") ? "DEK-Info: \(cipher),0123456789ABCDEF" : String($0) }
      let content = Array(other.joined(separator: "\n").utf8)
      let file = PrivateKeyFile(path: "key", content: content)
      #expect(failure(file, "right") == .unknownCipher, "\(cipher)")
    }
    let open = try await makeKey("ed25519", ["-a", "1"], "right")
    let name = Array("aes256-ctr".utf8)
    let body = try body(open)
    let start = try #require(
      body.indices.first { body[$0...].starts(with: name) })
    var changed = body
    changed.replaceSubrange(start..<start + name.count, with: Array("aes256-xyz".utf8))
    #expect(failure(armoured(changed), "right") == .unknownCipher)
  }

  @Test func aFileThatIsCutOffIsNoKeyAndNoCrash() async throws {
    for passphrase in ["", "right"] {
      let body = try body(try await makeKey("ecdsa", ["-a", "1"], passphrase))
      for length in 0..<body.count {
        let file = armoured(Array(body[..<length]))
        if case .ready = file.form { Issue.record("\(length) of \(body.count) bytes are a key") }
      }
      #expect(failure(armoured(body), passphrase) == nil)
    }
  }

  @Test func aFilesPublicHalfMustBeItsOwn() async throws {
    var body = try body(try await makeKey("ed25519", [], ""))
    // The first byte of the public key behind its type, in the part that is never encrypted.
    let type = Array("ssh-ed25519".utf8)
    let start = try #require(body.indices.first { body[$0...].starts(with: type) })
    body[start + type.count + 4] ^= 1
    guard case .unusable = armoured(body).form else { throw DidNotThrow() }
  }

  private func makeKey(
    _ type: String, _ form: [String], _ passphrase: String
  ) async throws -> [UInt8] {
    let folder = try TemporaryFolder("key")
    try await LoopbackServer.makeKey(type, folder["key"])
    try await Command(
      "ssh-keygen", ["-q", "-p", "-P", "", "-N", passphrase] + form + ["-f", folder["key"]]
    ).succeed()
    return try readFile(folder["key"])
  }

  private func failure(_ file: PrivateKeyFile, _ passphrase: String) -> SigningKey.Failure? {
    var bytes = Array(passphrase.utf8)
    do throws(SigningKey.Failure) {
      _ = try file.unlock(Secret(taking: &bytes))
      return nil
    } catch {
      return error
    }
  }

  private func body(_ content: [UInt8]) throws -> [UInt8] {
    let lines = String(decoding: content, as: UTF8.self).split(separator: "\n")
      .filter { !$0.hasPrefix("-----") }
    return [UInt8](try #require(Data(base64Encoded: lines.joined())))
  }

  private func armoured(_ body: [UInt8]) -> PrivateKeyFile {
    let text = """
      -----BEGIN OPENSSH PRIVATE KEY-----
      \(Data(body).base64EncodedString())
      -----END OPENSSH PRIVATE KEY-----
      """
    return PrivateKeyFile(path: "key", content: Array(text.utf8))
  }
}
