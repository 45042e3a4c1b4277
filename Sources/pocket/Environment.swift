import CPosix

/// Environment variables, taken once: tests give their own, and values need not be UTF-8.
struct Environment: Sendable {
  private var values: [String: [UInt8]]

  init(_ values: [String: String] = [:]) { self.values = values.mapValues { Array($0.utf8) } }

  /// The value's text; nil when it is not set or not UTF-8.
  subscript(name: String) -> String? {
    get { values[name].flatMap { String(validating: $0, as: UTF8.self) } }
    set { values[name] = newValue.map { Array($0.utf8) } }
  }

  /// The value's bytes; nil when it is not set.
  func bytes(of name: String) -> [UInt8]? { values[name] }

  /// All variables whose values are text.
  var texts: [String: String] {
    values.compactMapValues { String(validating: $0, as: UTF8.self) }
  }

  /// This process's environment.
  static func ofThisProcess() -> Environment {
    var environment = Environment()
    guard var next = pocket_environment() else { return environment }
    while let start = next.pointee {
      let entry = Word.bytesOfCString(start)
      if let equals = entry.firstIndex(of: UInt8(ascii: "=")) {
        let name = String(decoding: entry[..<equals], as: UTF8.self)
        environment.values[name] = Array(entry[(equals + 1)...])
      }
      next += 1
    }
    return environment
  }
}
