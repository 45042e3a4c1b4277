/// Where an agent keeps what lets it in with its vendor. Only whether it is there may be asked.
public struct AgentCredentials: Sendable, Hashable {
  /// The variable that may name another folder than `folder`.
  public var folderVariable: String
  /// In the home.
  public var folder: String
  /// In the folder; it exists once somebody has logged in.
  public var file: String
  /// Variables with which no file is needed.
  public var variables: [String]
}
