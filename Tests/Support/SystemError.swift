#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A system call that failed.
package struct SystemError: Error, CustomStringConvertible {
  /// What was tried, with its object: `open /tmp/x`.
  package let what: String
  /// `errno`.
  package let number: Int32

  package init(_ what: String, _ number: Int32 = errno) {
    self.what = what
    self.number = number
  }

  package var description: String { "\(what): \(String(cString: strerror(number)))" }
}

/// Gives the call's result, or throws when it is -1; a call that a signal interrupted is made again.
@discardableResult
func check<Number: SignedInteger>(
  _ what: @autoclosure () -> String, _ call: () -> Number
) throws -> Number {
  while true {
    let result = call()
    if result != -1 { return result }
    if errno != EINTR { throw SystemError(what()) }
  }
}
