#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The release build of `pocket` that the end-to-end tests are to use (`$POCKET_BINARY`), if any.
package var releaseBinary: String? { getenv("POCKET_BINARY").map { String(cString: $0) } }

/// The path of a program of this package: `$POCKET_BINARY`, else from the build that these tests are
/// of.
package func builtProgram(_ name: String) -> String {
  if name == "pocket", let releaseBinary { return releaseBinary }
  // It lies beside the test bundle, which is named among the arguments wherever it is loaded.
  let bundle = "pocketPackageTests.xctest"
  for argument in CommandLine.arguments {
    if let start = argument.indices.first(where: { argument[$0...].hasPrefix(bundle) }) {
      return argument[..<start] + name
    }
  }
  return name
}

/// The folder with the real `claude` and `codex`: `$POCKET_AGENTS_BIN`, else the one that
/// `make agents` fills. Nil when one of the programs is not there.
package func realAgentsFolder() -> String? {
  let checkout = sourceFolder(sourceFolder(sourceFolder(#filePath)))
  let folder = getenv("POCKET_AGENTS_BIN").map { String(cString: $0) }
  let path = folder ?? "\(checkout)/.tools/agents/bin"
  return ["claude", "codex"].allSatisfy { access("\(path)/\($0)", X_OK) == 0 } ? path : nil
}

/// The folder of a source file, from its `#filePath`: where a test finds data that lie beside it.
package func sourceFolder(_ path: String) -> String {
  String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
}
