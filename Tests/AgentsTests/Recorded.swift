import Agents
import TestSupport
import Testing

/// What a real agent printed, recorded by Fixtures/record.py.
enum Recorded {
  static func bytes(_ name: String) throws -> [UInt8] {
    let folder = sourceFolder(#filePath)
    return try readFile("\(folder)/Fixtures/\(name).jsonl")
  }

  static func agent(of name: String) throws -> any Agent {
    let agent = AgentCatalog.agent(named: String(name.prefix { $0 != "-" }))
    return try #require(agent)
  }

  static func events(_ name: String) throws -> [AgentEvent] {
    var reader = AgentReader(agent: try agent(of: name))
    return reader.read(try bytes(name)) + reader.finish()
  }

  static func outcome(_ name: String) throws -> AgentOutcome? {
    var reader = AgentReader(agent: try agent(of: name))
    _ = reader.read(try bytes(name))
    return reader.outcome
  }

  /// What a person sees of it.
  static func text(_ name: String) throws -> String {
    var text = AgentText()
    return try events(name).compactMap { text.lines(for: $0) }.joined()
  }
}
