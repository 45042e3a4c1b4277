import SSHClient

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What one JSON5 file sets.
struct SettingsFile: Equatable, Sendable {
  /// Whose file it is. A project's file comes with whatever was checked out, so it may choose among
  /// what the user has, but not name programs: an ssh_config can (ProxyCommand, Match exec).
  enum Kind: Sendable { case user, project }

  enum Key: String, CaseIterable { case host, agent, sshConfig, transport }

  private(set) var values: [Key: String] = [:]

  /// Reads the file's content.
  ///
  /// - Throws: `CommandError` in one line that names the file and, where there is one, the key.
  init(_ bytes: [UInt8], path: String, kind: Kind) throws(CommandError) {
    let decoder = JSONDecoder()
    decoder.allowsJSON5 = true
    let object: [String: Value]
    do {
      object = try decoder.decode([String: Value].self, from: Data(bytes))
    } catch DecodingError.typeMismatch {
      throw Self.error(path, "is not an object: { host: \"dev1\" }")
    } catch {
      throw Self.error(path, "is not JSON5")
    }
    for (name, value) in object.sorted(by: { $0.key < $1.key }) {
      guard let key = Key(rawValue: name) else {
        let names = Key.allCases.map(\.rawValue)
        let near = nearest(to: name, among: names).map { "did you mean '\($0)'?" }
        throw Self.error(
          path,
          "has an unknown key '\(name)'; \(near ?? "known are \(names.joined(separator: ", "))")")
      }
      guard case .text(let text) = value, !text.isEmpty else {
        throw Self.error(path, "'\(name)' must be a string that is not empty, and is \(value.kind)")
      }
      if key == .sshConfig, kind == .project {
        throw Self.error(
          path, "'\(name)' may stand only in your own config.json5: such a file can name programs")
      }
      if key == .transport, EngineChoice(rawValue: text) == nil {
        throw Self.error(path, "'\(name)' must be one of \(Settings.engineNames)")
      }
      values[key] = text
    }
  }

  static func error(_ path: String, _ what: String) -> CommandError {
    CommandError("settings", "\(path): \(what)", exit: .usage)
  }

  /// A JSON value, as far as an error message needs to know it.
  private enum Value: Decodable {
    case text(String)
    case other(String)

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if container.decodeNil() {
        self = .other("null")
      } else if let text = try? container.decode(String.self) {
        self = .text(text)
      } else if (try? container.decode(Bool.self)) != nil {
        self = .other("true or false")
      } else if (try? container.decode(Double.self)) != nil {
        self = .other("a number")
      } else {
        self = .other("a list or an object")
      }
    }

    var kind: String {
      switch self {
      case .text: "empty"
      case .other(let kind): kind
      }
    }
  }
}
