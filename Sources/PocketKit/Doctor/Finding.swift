/// What doctor has to say of one thing.
public struct Finding: Sendable, Hashable {
  /// How bad it is.
  public enum Verdict: String, Sendable, CaseIterable {
    /// As it should be, or nothing that matters here.
    case ok
    /// Jobs work; something may surprise.
    case warning
    /// Jobs cannot be started, or will be lost.
    case failure
  }

  /// What it is about: one or two words that stay the same, such as `host key`.
  public var subject: String
  /// How bad it is.
  public var verdict: Verdict
  /// What was found.
  public var what: String
  /// What to do about it.
  public var remedy: String?

  /// A finding of these values.
  public init(_ subject: String, _ verdict: Verdict, _ what: String, remedy: String? = nil) {
    self.subject = subject
    self.verdict = verdict
    self.what = what
    self.remedy = remedy
  }

  /// Something that could not be asked: it is said so, and nothing is concluded from it.
  static func unknown(_ subject: String, _ why: String = "the host did not say") -> Finding {
    Finding(subject, .ok, "unknown: \(why)")
  }
}
