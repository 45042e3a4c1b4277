import CPosix
import Dispatch

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The process: takes the world as it is, runs the program, ends with its code.
@main
enum Pocket {
  static func main() async {
    pocket_keep_memory_small()
    _ = pocket_survive_broken_pipes()
    let environment = Environment.ofThisProcess()
    let facts = TerminalFacts.ofThisProcess(environment)
    let context = CommandContext(
      environment: environment,
      workingDirectory: workingDirectory(),
      console: Console(
        output: DescriptorSink(descriptor: 1), errors: DescriptorSink(descriptor: 2), facts: facts),
      readInput: readInput,
      edit: Editor.write,
      now: { Int64(time(nil)) },
      interrupts: Interrupts.first,
      connector: HostConnector.make,
      table: .pocket)
    let code = await Program.run(Word.ofThisProcess(), in: context)
    // Not `exit`: it frees what OpenSSL shares while a connection's thread may still use it, and
    // there is nothing to be flushed.
    _exit(code.rawValue)
  }

  private static func workingDirectory() -> String {
    guard let path = getcwd(nil, 0) else { return "/" }
    defer { free(path) }
    return String(cString: path)
  }

  /// Off the cooperative pool: whoever feeds stdin may take his time.
  @Sendable private static func readInput() async throws(CommandError) -> [UInt8] {
    let result = await withCheckedContinuation { continuation in
      DispatchQueue(label: "pocket.stdin").async {
        continuation.resume(
          returning: Result { () throws(CommandError) in
            try FileBytes.toEnd(of: 0, called: "standard input")
          })
      }
    }
    return try result.get()
  }
}
