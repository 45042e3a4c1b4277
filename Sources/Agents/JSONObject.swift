#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A JSON object of which each member is decoded only when it is asked for: events are large, and
/// little of them is read. A member that is absent or of another type than the one asked for is
/// nil, since agents' fields change type from version to version, and one must not hide the rest.
///
/// It is a view into the decoder and is used only while that decodes.
struct JSONObject: Decodable {
  private let members: KeyedDecodingContainer<Key>

  init(from decoder: any Decoder) throws { members = try decoder.container(keyedBy: Key.self) }

  func string(_ key: String) -> String? { member(String.self, key) }
  func integer(_ key: String) -> Int? { member(Int.self, key) }
  func bool(_ key: String) -> Bool? { member(Bool.self, key) }
  func object(_ key: String) -> JSONObject? { member(JSONObject.self, key) }
  func objects(_ key: String) -> [JSONObject] { member([JSONObject].self, key) ?? [] }
  func strings(_ key: String) -> [String] { member([String].self, key) ?? [] }

  private func member<Value: Decodable>(_ type: Value.Type, _ key: String) -> Value? {
    (try? members.decodeIfPresent(type, forKey: Key(stringValue: key))) ?? nil
  }

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}

/// What one line of an agent's output decodes to. Each agent has one type of this kind.
protocol AgentLine: Decodable {
  var events: [AgentEvent] { get }
}

extension AgentLine {
  /// The events in `line`, without its 0x0A; a line that is no JSON object is `plain`.
  static func events(in line: [UInt8]) -> [AgentEvent] {
    guard line.contains(where: { !($0 == 0x20 || (0x09...0x0D).contains($0)) }) else { return [] }
    do {
      return try JSONDecoder().decode(Self.self, from: Data(line)).events
    } catch {
      return [.plain(String(decoding: line, as: UTF8.self))]
    }
  }
}
